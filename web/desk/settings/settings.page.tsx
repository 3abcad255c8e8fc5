import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { PageHeading } from '../parts/page-heading';
import { RoleGate } from '../parts/role-gate';
import { type Waitlist, waitlistQuery } from '../queries';
import { useMay } from '../roles';
import { AppearanceTab } from './appearance.tab';
import { DangerTab } from './danger.tab';
import { FormTab } from './form.tab';
import { KeysTab } from './keys.tab';
import { MailsTab } from './mails.tab';
import { OffersTab } from './offers.tab';
import { ReferralsTab } from './referrals.tab';
import classes from './settings.module.css';
import { SETTINGS_TABS, type SettingsTabName } from './tabs';
import { ReleaseTab } from './release.tab';
import { TrustTab } from './trust.tab';
import { WebhooksTab } from './webhooks.tab';

const TABS: Readonly<
  Record<SettingsTabName, { readonly label: string; readonly Tab: ComponentType<{ waitlist: Waitlist }> }>
> = {
  form: { label: 'Form', Tab: FormTab },
  referrals: { label: 'Referrals', Tab: ReferralsTab },
  trust: { label: 'Trust', Tab: TrustTab },
  mails: { label: 'Mails', Tab: MailsTab },
  offers: { label: 'Offers', Tab: OffersTab },
  release: { label: 'Release plan', Tab: ReleaseTab },
  appearance: { label: 'Appearance', Tab: AppearanceTab },
  keys: { label: 'Keys', Tab: KeysTab },
  webhooks: { label: 'Webhooks', Tab: WebhooksTab },
  danger: { label: 'Danger zone', Tab: DangerTab },
};
/** All that is on them is for owners. */
const OF_OWNERS: readonly SettingsTabName[] = ['danger'];

const route = getRouteApi('/shell/$waitlistId/settings/$tab');

export function SettingsPage() {
  const { waitlistId, tab } = route.useParams();
  const navigate = route.useNavigate();
  const { data: waitlist } = useQuery(waitlistQuery(waitlistId));
  const isOwner = useMay('owner');
  if (!waitlist) return null;
  const tabs = SETTINGS_TABS.filter((name) => isOwner || !OF_OWNERS.includes(name));
  if (!tabs.some((name) => name === tab))
    return (
      <RoleGate needed="owner" title="Settings">
        {null}
      </RoleGate>
    );
  return (
    <>
      <PageHeading title="Settings" />
      <Tabs
        value={tab}
        // Arrow keys move between the tabs; a tab with unsaved changes asks first.
        activateTabWithKeyboard={false}
        keepMounted={false}
        onChange={(next) =>
          next && void navigate({ to: '/$waitlistId/settings/$tab', params: { waitlistId, tab: next } })
        }
      >
        <Tabs.List className={classes.tabs ?? ''} mb="lg">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name} ref={name === tab ? showInRow : undefined}>
              {TABS[name].label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((name) => {
          const { Tab } = TABS[name];
          return (
            <Tabs.Panel key={name} value={name}>
              <Tab key={waitlist.id} waitlist={waitlist} />
            </Tabs.Panel>
          );
        })}
      </Tabs>
    </>
  );
}

/** On a phone the row of tabs scrolls. */
function showInRow(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: 'nearest', inline: 'center' });
}
