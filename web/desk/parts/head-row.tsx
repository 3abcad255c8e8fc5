import { Table } from '@mantine/core';

/**
 * The header of a table. A column of controls has an empty name. Columns of numbers come last, and are aligned at the
 * end.
 */
export function HeadRow({ columns, numbers = [] }: { columns: readonly string[]; numbers?: readonly string[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {[...columns, ...numbers].map((name, index) =>
          name === '' ? (
            <Table.Td key={name} />
          ) : (
            <Table.Th key={name} scope="col" ta={index < columns.length ? undefined : 'end'}>
              {name}
            </Table.Th>
          ),
        )}
      </Table.Tr>
    </Table.Thead>
  );
}
