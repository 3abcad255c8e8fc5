import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { PageHeading } from '../parts/page-heading';
import { type Waitlist, waitlistQuery } from '../queries';
import { DangerTab } from './danger.tab';
import { FormTab } from './form.tab';
import { KeysTab } from './keys.tab';
import { LookTab } from './look.tab';
import { ReferralsTab } from './referrals.tab';
import classes from './settings.module.css';
import { TrustTab } from './trust.tab';
import { WebhooksTab } from './webhooks.tab';

const TABS: Readonly<Record<string, { readonly label: string; readonly Tab: ComponentType<{ waitlist: Waitlist }> }>> =
  {
    form: { label: 'Form', Tab: FormTab },
    referrals: { label: 'Referrals', Tab: ReferralsTab },
    trust: { label: 'Trust', Tab: TrustTab },
    look: { label: 'Appearance', Tab: LookTab },
    keys: { label: 'Keys', Tab: KeysTab },
    webhooks: { label: 'Webhooks', Tab: WebhooksTab },
    danger: { label: 'Danger zone', Tab: DangerTab },
  };

const route = getRouteApi('/shell/$waitlistId/settings/$tab');

export function SettingsPage() {
  const { waitlistId, tab } = route.useParams();
  const navigate = route.useNavigate();
  const { data: waitlist } = useQuery(waitlistQuery(waitlistId));
  const current = tab in TABS ? tab : 'form';
  if (!waitlist) return null;
  return (
    <>
      <PageHeading title="Settings" />
      <Tabs
        value={current}
        // Arrow keys move between the tabs; a tab with unsaved changes asks first.
        activateTabWithKeyboard={false}
        keepMounted={false}
        onChange={(next) =>
          next && void navigate({ to: '/$waitlistId/settings/$tab', params: { waitlistId, tab: next } })
        }
      >
        <Tabs.List className={classes.tabs ?? ''} mb="lg">
          {Object.entries(TABS).map(([name, { label }]) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {Object.entries(TABS).map(([name, { Tab }]) => (
          <Tabs.Panel key={name} value={name}>
            <Tab key={waitlist.id} waitlist={waitlist} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}
