// Before anything is drawn: the theme chosen earlier, so that the page does not flash.
(() => {
  let kept = null;
  try {
    kept = localStorage.getItem("ragmachine.theme");
  } catch { /* storage may be forbidden */ }
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
