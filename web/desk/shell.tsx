import { AppShell, NavLink } from '@mantine/core';
import { Link, Outlet, useParams } from '@tanstack/react-router';

/** The frame of all pages: navigation, and the page itself. */
export function Shell() {
  const { waitlistId } = useParams({ strict: false });
  return (
    <AppShell navbar={{ width: 220, breakpoint: 'sm' }} padding="md">
      <AppShell.Navbar p="xs">
        {waitlistId !== undefined && (
          <>
            <NavLink label="Overview" component={Link} to={`/${waitlistId}/overview`} />
            <NavLink label="People" component={Link} to={`/${waitlistId}/people`} />
            <NavLink label="Import and export" component={Link} to={`/${waitlistId}/transfer`} />
            <NavLink label="Settings" component={Link} to={`/${waitlistId}/settings`} />
          </>
        )}
        <NavLink label="Account" component={Link} to="/account" />
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
