import { useQuery } from '@tanstack/react-query';
import { sendsMail } from '../environment';
import { waitlistQuery } from '../queries';

/** Whether the service mails people when they are let in; undefined until the settings are loaded. */
export function useIsMailed(waitlistId: number): boolean | undefined {
  const waitlist = useQuery(waitlistQuery(waitlistId)).data;
  return waitlist && waitlist.mail_on_offboarding && sendsMail;
}
