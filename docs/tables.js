// Wide tables scroll within the page; a frame that scrolls must be reachable by the keyboard.
window.addEventListener("load", () => {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0
  }
})
