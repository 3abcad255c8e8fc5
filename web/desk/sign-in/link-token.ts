import { createStore } from '../store';

const LINKED = /\/desk\/(invitation|reset)$/;

/**
 * The token of the link that was opened: of an invitation or a reset. The address loses it at once, so that neither the
 * history of the browser nor a page that follows has it. Null after a reload.
 */
export const linkToken = createStore(takeToken());

function takeToken(): string | null {
  if (!LINKED.test(location.pathname) || location.hash.length <= 1) return null;
  const token = location.hash.slice(1);
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  return token;
}

// Another link in the same tab.
window.addEventListener('hashchange', () => {
  const token = takeToken();
  if (token !== null) linkToken.set(token);
});
