import type { Waitlist } from '../queries';
export function LookTab({ waitlist }: { waitlist: Waitlist }) {
  return <>{waitlist.title}</>;
}
