/** The last part of the address of each tab, in order. */
export const SETTINGS_TABS = ['form', 'referrals', 'trust', 'appearance', 'keys', 'webhooks', 'danger'] as const;
export type SettingsTabName = (typeof SETTINGS_TABS)[number];

/** The address of a tab that was renamed. */
const RENAMED: Readonly<Record<string, SettingsTabName>> = { look: 'appearance' };

/** Null for a tab's own address, else the tab that stands in its place. */
export function otherTab(tab: string): SettingsTabName | null {
  return SETTINGS_TABS.some((name) => name === tab) ? null : (RENAMED[tab] ?? 'form');
}
