// Sets the color scheme before the first paint. The policy forbids inline scripts, so this is a file of its own; it
// blocks rendering and must stay small. The key is that of `schemeKey` in ui/theme.ts.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('scheme');
  } catch {}
  const dark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
