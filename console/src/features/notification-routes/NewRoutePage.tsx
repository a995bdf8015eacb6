import { SubmitForm, useCreateForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { routes as words } from '../../text/en/routes.ts';
import { Page, useDisabledReason } from '../../ui/index.ts';
import { RouteFields } from './RouteFields.tsx';
import { fieldOf, firstValues, toBody } from './values.ts';

export const NewRoutePage = () => {
  const form = useCreateForm({
    operation: 'createRoute',
    params: {},
    first: firstValues,
    toBody,
    fieldOf,
    disabledReason: useDisabledReason('createRoute'),
    created: words.created,
    opens: ({ id }) => to('/routes/$routeId', { routeId: id }),
  });
  return (
    <Page title={pages.newRoute} crumbs={[{ label: pages.routes, href: to('/routes') }]}>
      <SubmitForm form={form} submit={words.create} discard={to('/routes')}>
        <RouteFields form={form} />
      </SubmitForm>
    </Page>
  );
};
