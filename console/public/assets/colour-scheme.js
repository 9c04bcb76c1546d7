// Sets the colour scheme before anything is drawn, so that a dark page does not flash white. A file of its own, because
// the policy forbids inline script. The key is that of src/app/theme.ts.
(() => {
  let chosen = 'auto'
  try {
    chosen = localStorage.getItem('docrail.colour-scheme') ?? 'auto'
  } catch {
    // storage is blocked: the system's scheme is used
  }
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
