import { Box, Button, Menu, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CaretSortIcon, PlusIcon } from '@radix-ui/react-icons';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useFocusKeeper } from '../parts/use-focus-keeper';
import { waitlistsQuery } from '../queries';
import { useMay } from '../roles';
import classes from '../shell.module.css';
import { NewWaitlistDialog } from './new-waitlist-dialog';

/** From here on, a list is faster to search than to read. */
const SEARCHED_FROM = 8;

/** The name of the waitlist, which opens the list of all and makes a new one. */
export function WaitlistSwitcher({ waitlistId }: { waitlistId?: number }) {
  const { data: waitlists = [] } = useQuery(waitlistsQuery());
  const [search, setSearch] = useState('');
  const [isCreating, setIsCreating] = useState(false);
  const mayCreate = useMay('editor');
  const button = useRef<HTMLButtonElement>(null);
  const keepFocus = useFocusKeeper(isCreating);
  const create = () => {
    // The item of the menu is gone when the dialog closes.
    keepFocus(button.current);
    setIsCreating(true);
  };
  const current = waitlists.find(({ id }) => id === waitlistId);
  const found = waitlists.filter(({ waitlist_name }) => waitlist_name.toLowerCase().includes(search.toLowerCase()));
  return (
    <>
      <Menu width="target" position="bottom-start" withinPortal={false}>
        <Menu.Target>
          <Button
            ref={button}
            variant="subtle"
            color="gray"
            fullWidth
            justify="space-between"
            px="xs"
            miw={0}
            c="var(--mantine-color-text)"
            rightSection={<CaretSortIcon aria-hidden />}
          >
            <Text component="span" fw={600} truncate>
              {current?.waitlist_name ?? 'Waitlists'}
            </Text>
          </Button>
        </Menu.Target>
        <Menu.Dropdown miw={200}>
          {waitlists.length >= SEARCHED_FROM && (
            <Menu.Search
              placeholder="Find a waitlist"
              aria-label="Find a waitlist"
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
          )}
          <Box mah={320} className={classes.scrolled}>
            {found.map(({ id, waitlist_name }) => (
              <Menu.Item
                key={id}
                component={Link}
                to={`/${id}/overview`}
                aria-current={id === waitlistId ? 'true' : undefined}
                fw={id === waitlistId ? 600 : undefined}
              >
                {waitlist_name}
              </Menu.Item>
            ))}
          </Box>
          {waitlists.length > 0 && mayCreate && <Menu.Divider />}
          {mayCreate && (
            <Menu.Item leftSection={<PlusIcon aria-hidden />} onClick={create}>
              New waitlist
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <NewWaitlistDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
    </>
  );
}
