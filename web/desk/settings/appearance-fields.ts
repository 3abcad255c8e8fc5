import { OWN_TEXT_KEYS, type OwnTextKey } from '../../page/own-texts';
import type { PreviewState } from './drawn-preview';

/** The names of `configuration_style_json` that reach the page. */
export const COLORS = [
  { name: 'widget_background_color', label: 'Background' },
  { name: 'widget_font_color', label: 'Text' },
  { name: 'widget_button_color', label: 'Button' },
  { name: 'widget_button_font_color', label: 'Text on the button' },
  { name: 'border_color', label: 'Borders' },
  { name: 'status_main_color', label: 'Place in line' },
  { name: 'status_font_color', label: 'Text around the place' },
] as const;
export type ColorName = (typeof COLORS)[number]['name'];

interface TextGroup {
  readonly title: string;
  /** The state of the page that shows them. */
  readonly state: PreviewState;
  readonly keys: readonly OwnTextKey[];
}

const GROUPS: readonly TextGroup[] = [
  {
    title: 'the form',
    state: 'form',
    keys: [
      'first_name',
      'last_name',
      'email',
      'phone',
      'optional',
      'choose',
      'invited_by',
      'one_in_line',
      'many_in_line',
      'already_joined',
    ],
  },
  { title: 'a closed waitlist', state: 'closed', keys: ['closed', 'find', 'find_button'] },
  {
    title: 'after joining',
    state: 'joined',
    keys: [
      'place',
      'nobody_ahead',
      'one_ahead',
      'many_ahead',
      'one_spot',
      'many_spots',
      'one_referral',
      'many_referrals',
      'joined_as',
      'one_moved_up',
      'many_moved_up',
      'one_others_up',
      'many_others_up',
      'one_others_back',
      'many_others_back',
      'one_more',
      'estimate',
      'referral_link',
      'copy',
      'copied',
      'share',
      'share_on',
      'bookmark',
      'private_page',
      'leave_sent',
      'contact',
    ],
  },
  {
    title: 'the leaderboard',
    state: 'joined',
    keys: ['leaderboard', 'leaderboard_place', 'leaderboard_person', 'leaderboard_referrals', 'anonymous', 'you'],
  },
  {
    title: 'waiting for the click in the mail',
    state: 'mail',
    keys: [
      'check_mail',
      'check_mail_text',
      'check_mail_hint',
      'check_mail_address',
      'resend',
      'no_mail',
      'no_mail_text',
    ],
  },
  {
    title: 'the link in the mail',
    state: 'verify',
    keys: [
      'verify',
      'verify_text',
      'verify_button',
      'link_not_found',
      'link_not_found_text',
      'link_not_found_closed_text',
      'link_not_found_button',
    ],
  },
  {
    title: 'an email that is not confirmed',
    state: 'unverified',
    keys: ['unverified', 'send_link', 'resent', 'verified'],
  },
  {
    title: 'leaving the waitlist',
    state: 'leaving',
    keys: ['leave', 'leave_text', 'leave_link_not_found_text'],
  },
  { title: 'after leaving', state: 'left', keys: ['left', 'left_text'] },
  {
    title: 'an offer',
    state: 'offer',
    keys: ['offer_open', 'offer_open_text', 'offer_until', 'offer_accept', 'offer_decline'],
  },
  {
    title: 'an offer that was answered or has ended',
    state: 'accepted',
    keys: [
      'offer_accepted',
      'offer_accepted_text',
      'offer_continue',
      'offer_declined',
      'offer_declined_text',
      'offer_expired',
      'offer_expired_text',
      'offer_withdrawn',
      'offer_withdrawn_text',
      'offer_status',
      'offer_not_found_text',
    ],
  },
  { title: 'when it is their turn', state: 'turn', keys: ['your_turn', 'your_turn_text', 'your_turn_button'] },
  {
    title: 'when a spot is offered to them',
    state: 'offered',
    keys: ['offered_text', 'offered_no_mail', 'offered_hint', 'offered_button'],
  },
  { title: 'after an offer that they did not accept', state: 'declined', keys: ['removed_text'] },
];

/** These stand in a paragraph, so that they may have several lines. */
export const LONG_TEXTS: readonly OwnTextKey[] = [
  'closed',
  'bookmark',
  'check_mail_text',
  'check_mail_hint',
  'unverified',
  'verify_text',
  'no_mail_text',
  'link_not_found_text',
  'link_not_found_closed_text',
  'your_turn_text',
  'offer_open_text',
  'offer_accepted_text',
  'offer_declined_text',
  'offer_expired_text',
  'offer_withdrawn_text',
  'offer_not_found_text',
  'offered_text',
  'offered_no_mail',
  'offered_hint',
  'removed_text',
  'leave_text',
  'left_text',
  'leave_link_not_found_text',
];

/** These have fields or settings of their own. */
const ELSEWHERE: readonly OwnTextKey[] = ['introduction', 'purpose', 'button', 'joined', 'message'];

/** All other texts of the page, under headings. */
export const TEXT_GROUPS: readonly TextGroup[] = [
  ...GROUPS,
  {
    title: 'problems',
    state: 'faults',
    keys: OWN_TEXT_KEYS.filter((key) => !ELSEWHERE.includes(key) && !GROUPS.some(({ keys }) => keys.includes(key))),
  },
];
