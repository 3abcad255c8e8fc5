/** What a call gives, and the processor time that this process took for it, in all of its threads: no neighbour adds to that. */
export async function withProcessorMs<Result>(call: () => Promise<Result>): Promise<readonly [Result, number]> {
  const before = process.cpuUsage();
  const result = await call();
  const { user, system } = process.cpuUsage(before);
  return [result, (user + system) / 1000];
}
