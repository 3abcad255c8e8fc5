/** A moment in the words of a language. A page without a script does not know the time zone of its reader: so UTC. */
export function momentIn(lang: string, moment: Date): string {
  return new Intl.DateTimeFormat(lang, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  }).format(moment);
}
