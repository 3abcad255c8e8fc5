import { useSyncExternalStore } from 'react';
import { basePath } from './environment';

const RETRY_MS = 5_000;

let isLost = false;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function become(lost: boolean): void {
  if (lost === isLost) return;
  isLost = lost;
  if (lost) retryLater();
  else clearTimeout(timer);
  for (const listener of listeners) listener();
}

function retryLater(): void {
  timer = setTimeout(() => void tryConnection(), RETRY_MS);
}

/** Asks the service whether it can be reached again. */
export async function tryConnection(): Promise<void> {
  clearTimeout(timer);
  try {
    await fetchOrNotice(`${basePath}/livez`);
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

export function onConnectionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function isConnectionLost(): boolean {
  return isLost;
}

export function useIsConnectionLost(): boolean {
  return useSyncExternalStore(onConnectionChange, isConnectionLost);
}

window.addEventListener('offline', () => become(true));
window.addEventListener('online', () => void tryConnection());
