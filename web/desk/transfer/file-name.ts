const NAME_LENGTH_MAX = 60;

/** The name of a file of a waitlist: `my-waitlist-2026-11-22.csv`. */
export function fileName(waitlistName: string, ending: string): string {
  const words = waitlistName.toLowerCase().match(/[\p{Letter}\p{Number}]+/gu) ?? ['waitlist'];
  return `${words.join('-').slice(0, NAME_LENGTH_MAX)}-${new Date().toISOString().slice(0, 10)}${ending}`;
}
