// Search runs in a worker, which browsers refuse to a page that was opened from a disk. There a hidden frame takes its
// place: it loads the worker's script and passes messages to and fro. mkdocs.yml loads this before everything else.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.title = "search"
      this.frame.srcdoc = "<!doctype html>"
      this.ready = new Promise((resolve) => this.frame.addEventListener("load", () => resolve(this.start(url))))
      document.body.append(this.frame)
    }

    start(url) {
      const inside = this.frame.contentWindow
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = inside.document.createElement("script")
      script.src = url
      const loaded = new Promise((resolve) => script.addEventListener("load", () => resolve(inside)))
      inside.document.head.append(script)
      return loaded
    }

    async postMessage(data) {
      const inside = await this.ready
      inside.dispatchEvent(new inside.MessageEvent("message", { data }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
