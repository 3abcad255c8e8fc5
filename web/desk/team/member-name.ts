import { count } from '../parts/format';
import type { Member } from '../queries';

/** At the end of a UUID, where they are random. */
const ID_CHARACTERS = 6;

/** The name of a member, or the email of one without a name. */
export function nameOf({ name, email }: Pick<Member, 'name' | 'email'>): string {
  return name ?? email;
}

/** Finds the name of a member by the id; of one who was removed, only the end of the id is known. */
export function memberNames(members: readonly Member[] = []): (id: string) => string {
  const names = new Map(members.map((member) => [member.id, nameOf(member)]));
  return (id) => names.get(id) ?? `Removed member ${id.slice(-ID_CHARACTERS)}`;
}

/** "1 member", "12 members". */
export function countMembers(number: number): string {
  return number === 1 ? '1 member' : `${count(number)} members`;
}
