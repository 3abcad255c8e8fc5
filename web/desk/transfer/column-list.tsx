import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useRef } from 'react';
import { type ColumnUse, DELIMITERS, type Mapping, usesOf } from '../../../src/transfer/column-names';
import { count } from '../parts/format';
import { choiceOf, choicesFor, hasContact, restOf, withChoice } from './columns';
import type { FileHead } from './file-head';
import classes from './transfer.module.css';

/** The columns of a file with some of their values, and what each is read as. */
export function ColumnList({
  head: { delimiter, headers, rows },
  mapping,
  onMap,
}: {
  head: FileHead;
  mapping: Mapping;
  onMap: (mapping: Mapping) => void;
}) {
  const uses = usesOf(headers, mapping);
  const rest = restOf(uses);
  const list = useRef<HTMLUListElement>(null);
  const keepRest = () => {
    // The button disappears, and the focus with it.
    const first = uses.findIndex(({ header }) => header === rest[0]);
    list.current?.children[first]?.querySelector('select')?.focus();
    onMap(rest.reduce((all, header) => ({ ...all, [header]: 'metadata' }), mapping));
  };
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {headers.length === 1
          ? 'The file has one column.'
          : `The file has ${count(headers.length)} columns, separated by ${DELIMITERS[delimiter]}.`}{' '}
        Say what each is.
      </Text>
      <ul className={classes.columns} ref={list} aria-label="Columns of the file">
        {uses.map((use, index) => (
          <ColumnRow
            key={index}
            use={use}
            isTwice={headers.filter((header) => header === use.header).length > 1}
            values={rows.map((row) => row[index] ?? '')}
            onChoose={(choice) => onMap(withChoice(headers, mapping, use.header, choice))}
          />
        ))}
      </ul>
      {rest.length > 0 && (
        <Group>
          <Button size="compact-sm" variant="default" onClick={keepRest}>
            {rest.length === 1
              ? 'Keep the column left out as metadata'
              : `Keep the ${rest.length} left out as metadata`}
          </Button>
        </Group>
      )}
      {!hasContact(uses) && (
        <Text size="sm" role="status">
          No column is the email or the phone yet. Choose one: people are known by them.
        </Text>
      )}
    </Stack>
  );
}

function ColumnRow({
  use,
  isTwice,
  values,
  onChoose,
}: {
  use: ColumnUse;
  /** The file has this name twice. A choice would apply to both columns. */
  isTwice: boolean;
  values: readonly string[];
  onChoose: (choice: string) => void;
}) {
  const name = use.header || 'No name';
  const samples = values.filter((value) => value.trim() !== '').join(' · ');
  return (
    <li className={classes.column}>
      <div className={classes.about}>
        <Text size="sm" fw={500} truncate>
          {name}
        </Text>
        <Text size="sm" c="dimmed" truncate title={samples}>
          {samples || 'Empty in the first rows'}
        </Text>
      </div>
      <NativeSelect
        aria-label={`Read ${name} as`}
        value={choiceOf(use)}
        data={choicesFor(use)}
        disabled={isTwice}
        description={isTwice ? 'The file has this name twice.' : undefined}
        onChange={({ currentTarget: { value } }) => onChoose(value)}
      />
    </li>
  );
}
