import type { AddressInfo, Server } from 'node:net';

/** The URL of a server, by way of a door on this machine that leads there. */
export function detour(target: URL, door: Server): string {
  const url = new URL(target.href);
  url.hostname = '127.0.0.1';
  url.port = String((door.address() as AddressInfo).port);
  return url.href;
}
