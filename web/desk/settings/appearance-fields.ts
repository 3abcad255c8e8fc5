import { TEXT_KEYS, type TextKey } from '../../page/texts';

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

const GROUPS: readonly { readonly title: string; readonly keys: readonly TextKey[] }[] = [
  { title: 'the form', keys: ['first_name', 'last_name', 'email', 'phone', 'optional', 'choose'] },
  { title: 'a closed waitlist', keys: ['closed', 'find', 'find_button'] },
  {
    title: 'after joining',
    keys: [
      'place',
      'nobody_ahead',
      'one_ahead',
      'many_ahead',
      'one_spot',
      'many_spots',
      'one_referral',
      'many_referrals',
      'referral_link',
      'copy',
      'copied',
      'share',
      'share_on',
      'bookmark',
    ],
  },
  {
    title: 'verification',
    keys: [
      'check_mail',
      'check_mail_text',
      'check_mail_hint',
      'unverified',
      'resend',
      'resent',
      'verify',
      'verify_text',
      'verify_button',
      'verified',
      'link_not_found',
      'link_not_found_text',
      'link_not_found_button',
    ],
  },
  {
    title: 'the leaderboard',
    keys: ['leaderboard', 'leaderboard_place', 'leaderboard_person', 'leaderboard_referrals', 'anonymous'],
  },
  { title: 'when it is their turn', keys: ['your_turn', 'your_turn_text', 'your_turn_button'] },
];

/** These have fields or settings of their own. */
const ELSEWHERE: readonly TextKey[] = ['introduction', 'purpose', 'button', 'joined', 'message'];

/** All other texts of the page, under headings. */
export const TEXT_GROUPS = [
  ...GROUPS,
  {
    title: 'problems',
    keys: TEXT_KEYS.filter((key) => !ELSEWHERE.includes(key) && !GROUPS.some(({ keys }) => keys.includes(key))),
  },
];
