import { Menu, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { AvatarIcon, CaretSortIcon, ExitIcon, LockClosedIcon, PersonIcon } from '@radix-ui/react-icons';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sentenceOf } from './problem';
import { ownMemberQuery } from './queries';
import { ROLE_LABELS, useMay } from './roles';
import { signOut } from './session';
import classes from './shell.module.css';

/** Says who is signed in, and leads to the pages of the member and the account. */
export function AccountMenu({ isLimited }: { isLimited: boolean }) {
  const { data: me } = useQuery(ownMemberQuery());
  const isOwner = useMay('owner') && !isLimited;
  const leave = useMutation({
    mutationFn: signOut,
    onError: (error) => notifications.show({ color: 'red', message: sentenceOf(error) }),
  });
  if (!me) return null;
  return (
    <Menu position="top-start" withinPortal={false} width={240}>
      <Menu.Target>
        <UnstyledButton className={classes.me}>
          <VisuallyHidden component="span">Signed in as </VisuallyHidden>
          <span className={classes.meText}>
            <Text component="span" display="block" size="sm" fw={500} truncate>
              <bdi>{me.name ?? me.email}</bdi>
            </Text>
            <Text component="span" display="block" size="xs" c="dimmed">
              {ROLE_LABELS[me.role]}
            </Text>
          </span>
          <AvatarIcon aria-hidden className={classes.meIcon} />
          <CaretSortIcon aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text inherit c="var(--mantine-color-text)" style={{ overflowWrap: 'anywhere' }}>
            <bdi>{me.email}</bdi>
          </Text>
          {ROLE_LABELS[me.role]}
        </Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<AvatarIcon aria-hidden />}>
          Profile
        </Menu.Item>
        {isOwner && (
          <Menu.Item component={Link} to="/team" leftSection={<PersonIcon aria-hidden />}>
            Team
          </Menu.Item>
        )}
        {isOwner && (
          <Menu.Item component={Link} to="/account" leftSection={<LockClosedIcon aria-hidden />}>
            Account
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item leftSection={<ExitIcon aria-hidden />} onClick={() => leave.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
