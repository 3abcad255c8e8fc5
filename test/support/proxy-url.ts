import type { AddressInfo, Server } from 'node:net';

/** The URL of `target`, through a proxy on this machine. */
export function proxyUrl(target: URL, proxy: Server): string {
  const url = new URL(target.href);
  url.hostname = '127.0.0.1';
  url.port = String((proxy.address() as AddressInfo).port);
  return url.href;
}
