/**
 * The result of a call and the processor time of this process for it, in all threads; other processes do not add to it.
 */
export async function withProcessorMs<Result>(call: () => Promise<Result>): Promise<readonly [Result, number]> {
  const before = process.cpuUsage();
  const result = await call();
  const { user, system } = process.cpuUsage(before);
  return [result, (user + system) / 1000];
}
