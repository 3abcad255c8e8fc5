import { useQuery } from '@tanstack/react-query';
import { waitlistQuery } from '../queries';

/** Whether the service mails people when they are let in; undefined until the settings are there. */
export function useIsMailed(waitlistId: number): boolean | undefined {
  return useQuery(waitlistQuery(waitlistId)).data?.mail_on_offboarding;
}
