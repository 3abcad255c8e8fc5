import { Table, Text } from '@mantine/core';
import { meaningOf } from './columns';
import type { FileHead } from './file-head';
import classes from './transfer.module.css';

/** The columns of a file, what each is taken for, and its first rows. */
export function HeadTable({ head: { columns, rows } }: { head: FileHead }) {
  return (
    <div className={classes.head} tabIndex={0} role="region" aria-label="The first rows of the file">
      <Table>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column, index) => {
              const meaning = meaningOf(column);
              return (
                <Table.Th key={index} scope="col" className={classes.cell ?? ''}>
                  {column.trim() || 'No name'}
                  <Text size="xs" c="dimmed" fw={400} fs={meaning === null ? 'italic' : undefined}>
                    {meaning ?? 'Ignored'}
                  </Text>
                </Table.Th>
              );
            })}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, at) => (
            <Table.Tr key={at}>
              {row.map((cell, index) => (
                <Table.Td key={index} className={classes.cell ?? ''} title={cell}>
                  {cell}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
