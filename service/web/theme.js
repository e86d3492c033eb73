// Runs before the first paint, so that a chosen theme does not flash. Without a choice, the system decides.
{
  let theme = null
  try {
    theme = localStorage.getItem('paperscope.theme')
  } catch {
    // Storage is off: the system decides.
  }
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
}
