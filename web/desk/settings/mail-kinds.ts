import type { Waitlist } from '../queries';

export type Kind = keyof Waitlist['mails'];

/** The mails that an owner can word. */
export const KINDS: readonly {
  readonly kind: Kind;
  readonly title: string;
  readonly description: string;
  readonly placeholders: readonly string[];
}[] = [
  {
    kind: 'verification',
    title: 'Verification',
    description: 'Asks people to confirm their address, by a link.',
    placeholders: ['{place}', '{waitlist_name}', '{link}'],
  },
  {
    kind: 'welcome',
    title: 'Welcome',
    description: 'Tells people their place, the address of their own page, and their link to share.',
    placeholders: ['{first_name}', '{place}', '{waitlist_name}', '{link}'],
  },
  {
    kind: 'offer',
    title: 'Offer',
    description: 'Has the link to accept or decline a seat that you offer.',
    placeholders: ['{first_name}', '{place}', '{waitlist_name}', '{link}'],
  },
  {
    kind: 'your_turn',
    title: 'Your turn',
    description: 'Tells people that they have been let in.',
    placeholders: ['{first_name}', '{waitlist_name}', '{link}'],
  },
];
