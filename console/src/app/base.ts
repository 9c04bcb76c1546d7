/** The path under which the console and the API are served, without a trailing slash: empty, or a proxy's prefix. */
export const basePath = new URL('.', document.baseURI).pathname.replace(/\/$/, '')
