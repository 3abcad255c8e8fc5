import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { refreshPeople } from './people.queries';

const MORE_TEXT = 'The last request may have arrived: there may be more people than listed.';

/**
 * Keeps the results of an action on many people that is sent in pieces. Whoever gives up midway gets the results of the
 * pieces that are done.
 */
export function usePieces<P>(
  waitlistId: number,
  onDone: (people: readonly P[]) => void,
  onClose: (isUncertain: boolean) => void,
) {
  const queries = useQueryClient();
  const [done, setDone] = useState(0);
  const finished = useRef<readonly P[]>([]);
  const end = (people: readonly P[]) => {
    finished.current = [];
    onDone(people);
    void refreshPeople(queries, waitlistId);
  };
  return {
    /** How many people are done. */
    done,
    onProgress: (done: number, pieces: readonly (readonly P[])[]) => {
      // What is done stays done when a repeat begins at the first piece.
      setDone((before) => Math.max(before, done));
      if (done > 0) finished.current = pieces.flat();
    },
    finish: end,
    close: (isUncertain: boolean) => {
      if (finished.current.length === 0) return onClose(isUncertain);
      if (isUncertain) notifications.show({ message: MORE_TEXT });
      end(finished.current);
    },
  };
}
