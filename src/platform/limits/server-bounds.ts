/** The bounds of one connection, and of all connections together. */
export const SERVER_BOUNDS = {
  // One packet holds the headers, and a slow mobile connection sends the largest body, 1 MiB, in half a minute.
  headersMs: 10_000,
  requestMs: 30_000,
  // How often the server checks these.
  checkMs: 1_000,
  // Above the 60 s of most load balancers: the side that closes first must not be the one that receives requests.
  keepAliveMs: 72_000,
  // Without a byte in either direction while a request or its answer is under way, as with a client that stopped
  // reading. Longer than our slowest request.
  silenceMs: 30_000,
  // From the end of the request to its answer, even if the work still runs. Above the deadline of a single piece of
  // work, whose error says more. Below the five seconds in which every request is answered, because the network and a
  // busy event loop take their share.
  answerMs: 4_500,
  // Memory and file handles are for work, not for idle connections.
  connectionsMax: 10_000,
  // An eighth of the memory that the Helm chart grants a process.
  largeBodiesMaxBytes: 64 * 1024 * 1024,
  // Eight of the largest body. An owner's script sends one at a time.
  largeBodiesPerAddressMaxBytes: 8 * 1024 * 1024,
  // Mean delay of the event loop beyond which requests are refused. A request takes six turns of the loop: at 500 ms
  // each, the 4 s deadline of the database would fail work that succeeded.
  loopDelayMs: 500,
  // An import or an export may take hours on a slow line, but a client that stands still must not hold its place.
  transferMs: 30_000,
  transferBytes: 64 * 1024,
  // Nor one that sends just that much: the largest file arrives within a day.
  uploadGraceMs: 60_000,
  uploadBytesPerSecond: 16 * 1024,
  // How long after the server closes an unfinished request may still arrive. A signup is one packet, already on its way
  // by then. Less than a shutdown may take (boot/shutdown.ts).
  unsentMs: 5_000,
};
/** Tests use smaller bounds. */
export type ServerBounds = Readonly<typeof SERVER_BOUNDS>;
