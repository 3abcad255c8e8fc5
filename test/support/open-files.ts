import { readdir, readlink, stat } from 'node:fs/promises';

/** The files in a directory that this process has open, those without a name included. Linux only. */
export async function openFilesIn(directory: string): Promise<{ readonly size: number; readonly mode: number }[]> {
  const paths = (await readdir('/proc/self/fd')).map((descriptor) => `/proc/self/fd/${descriptor}`);
  const files = paths.map(async (path) => {
    const target = await readlink(path).catch(() => '');
    return target.startsWith(`${directory}/`) ? stat(path).catch(() => null) : null;
  });
  return (await Promise.all(files)).filter((file) => file !== null).map(({ size, mode }) => ({ size, mode }));
}
