/** The last part of the address of each tab, in order. */
export const SETTINGS_TABS = [
  'form',
  'referrals',
  'trust',
  'mails',
  'offers',
  'release',
  'appearance',
  'keys',
  'webhooks',
  'danger',
] as const;
export type SettingsTabName = (typeof SETTINGS_TABS)[number];

/** Earlier addresses of tabs. */
const RENAMED: Readonly<Record<string, SettingsTabName>> = { look: 'appearance' };

/** The tab to redirect to from an earlier or unknown address; null for the address of a tab. */
export function otherTab(tab: string): SettingsTabName | null {
  return SETTINGS_TABS.some((name) => name === tab) ? null : (RENAMED[tab] ?? 'form');
}
