import { Badge, Button, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { HeadRow } from '../parts/head-row';
import { RelativeTime } from '../parts/relative-time';
import tableClasses from '../parts/table.module.css';
import { type Member, ownMemberQuery, signInMethodsQuery } from '../queries';
import { ROLE_LABELS } from '../roles';
import { nameOf } from './member-name';

const STATUSES: Readonly<Record<Member['status'], readonly [label: string, color: string]>> = {
  active: ['Active', 'teal'],
  invited: ['Invited', 'orange'],
  disabled: ['Disabled', 'gray'],
};

export function MemberTable({ members, onManage }: { members: readonly Member[]; onManage: (member: Member) => void }) {
  const { data: me } = useQuery(ownMemberQuery());
  const { data: methods } = useQuery(signInMethodsQuery());
  const waysOf = ({ sign_in: ways }: Member) =>
    ways.map((way) => (way === 'sso' ? (methods?.sso?.name ?? 'Single sign-on') : 'Password')).join(', ') || '–';
  return (
    <Table.ScrollContainer minWidth={860} type="native">
      <Table>
        <HeadRow columns={['Member', 'Role', 'Status', 'Second factor', 'Signs in with', 'Last login', '']} />
        <Table.Tbody>
          {members.map((member) => {
            const [status, color] = STATUSES[member.status];
            return (
              <Table.Tr key={member.id}>
                <Table.Th scope="row" fw={500}>
                  <Group gap={6} wrap="nowrap">
                    <bdi>{nameOf(member)}</bdi>
                    {member.id === me?.id && (
                      <Badge size="sm" variant="default" miw="max-content">
                        You
                      </Badge>
                    )}
                  </Group>
                  {member.name !== null && (
                    <Text size="sm" c="dimmed">
                      <bdi>{member.email}</bdi>
                    </Text>
                  )}
                </Table.Th>
                <Table.Td>{ROLE_LABELS[member.role]}</Table.Td>
                <Table.Td>
                  <Badge variant="light" color={color} miw="max-content">
                    {status}
                  </Badge>
                </Table.Td>
                <Table.Td>{member.two_factor ? 'On' : 'Off'}</Table.Td>
                <Table.Td>{waysOf(member)}</Table.Td>
                <Table.Td>
                  {member.last_login_at === null ? 'Never' : <RelativeTime time={member.last_login_at} />}
                </Table.Td>
                <Table.Td ta="end" className={tableClasses.act}>
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Manage ${nameOf(member)}`}
                    onClick={() => onManage(member)}
                  >
                    Manage
                  </Button>
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
