import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Calls `ended` once: with true when the response is on its way, with false if the connection has closed before. A
 * pipelined response emits no `close` while it waits for an earlier one, so this listens to the socket.
 */
export function onceEnded(
  { socket }: IncomingMessage,
  response: ServerResponse,
  ended: (isAnswered: boolean) => void,
): void {
  if (socket.closed) return ended(false);
  const onFinish = () => {
    socket.off('close', onClose);
    ended(true);
  };
  const onClose = () => {
    response.off('finish', onFinish);
    ended(false);
  };
  response.once('finish', onFinish);
  socket.once('close', onClose);
}

/** Is aborted when the response is on its way to the client, or the connection has closed. */
export function endOf(request: IncomingMessage, response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  onceEnded(request, response, () => controller.abort());
  return controller.signal;
}
