import { basePath } from './environment';
import { createStore } from './store';

const RETRY_MS = 5_000;

/** Whether the service cannot be reached. */
export const connectionLost = createStore(false);
let timer: ReturnType<typeof setTimeout> | undefined;

function become(isLost: boolean): void {
  if (isLost === connectionLost.get()) return;
  if (isLost) retryLater();
  else clearTimeout(timer);
  connectionLost.set(isLost);
}

function retryLater(): void {
  timer = setTimeout(() => void tryConnection(), RETRY_MS);
}

/** Asks the service whether it can be reached again. */
export async function tryConnection(): Promise<void> {
  clearTimeout(timer);
  try {
    // Not a probe: a proxy exposes the pages only.
    await fetchOrNotice(`${basePath}/desk`, { method: 'HEAD' });
  } catch {
    retryLater();
  }
}

/** `fetch` that notices when the service cannot be reached. */
export async function fetchOrNotice(...request: Parameters<typeof fetch>): Promise<Response> {
  try {
    const response = await fetch(...request);
    become(false);
    return response;
  } catch (error) {
    // Anything else is a request that this page ended.
    if (error instanceof TypeError) become(true);
    throw error;
  }
}

window.addEventListener('offline', () => become(true));
window.addEventListener('online', () => void tryConnection());
