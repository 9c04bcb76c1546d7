/** Calls back after the browser has painted what is on the page now. Returns what stops it. */
export function afterPaint(done: () => void): () => void {
  const { port1, port2 } = new MessageChannel()
  port1.addEventListener('message', done)
  port1.start()
  // The frame is drawn right after this; a message that is sent now is the first task after it.
  const frame = requestAnimationFrame(() => port2.postMessage(undefined))
  return () => {
    cancelAnimationFrame(frame)
    port1.close()
  }
}
