import { PageHeading } from '../parts/page-heading';

export function OverviewPage() {
  return <PageHeading title="Overview" />;
}
