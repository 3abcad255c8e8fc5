import { useQuery } from '@tanstack/react-query';
import { type Member, ownMemberQuery } from './queries';

export type Role = Member['role'];

/** Each may do all that the ones before it may. */
export const ROLES: readonly Role[] = ['viewer', 'editor', 'owner'];

export const ROLE_LABELS: Readonly<Record<Role, string>> = { viewer: 'Viewer', editor: 'Editor', owner: 'Owner' };

export const ROLE_DESCRIPTIONS: Readonly<Record<Role, string>> = {
  viewer: 'Sees waitlists, people and settings. Changes and exports nothing.',
  editor: 'Works with people, makes and changes waitlists, imports and exports.',
  owner: 'Does everything: also deletes waitlists, and manages keys and members.',
};

/** Whether the member who is signed in has at least this role. The shell shows no page before it knows. */
export function useMay(needed: Role): boolean {
  const { data: me } = useQuery(ownMemberQuery());
  return me !== undefined && ROLES.indexOf(me.role) >= ROLES.indexOf(needed);
}
