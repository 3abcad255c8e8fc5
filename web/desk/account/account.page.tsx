import { PageHeading } from '../parts/page-heading';

export function AccountPage() {
  return <PageHeading title="Account" />;
}
