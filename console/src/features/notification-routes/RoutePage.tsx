import { useParams } from '@tanstack/react-router';
import { listPolling, perform, useAction, useEditForm, useOperation } from '../../api/index.ts';
import type { Route } from '../../api/types.gen.ts';
import { DetailPage, EditForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { routes as words } from '../../text/en/routes.ts';
import { Button, notify, OutcomeTag, useDisabledReason } from '../../ui/index.ts';
import { RouteFields } from './RouteFields.tsx';
import { fieldOf, toChanges, toValues } from './values.ts';

const Settings = ({ route, etag }: { route: Route; etag: string | null }) => {
  const edit = useEditForm({
    read: 'getRoute',
    change: 'updateRoute',
    params: { route_id: route.id },
    loaded: { body: route, etag },
    toValues,
    toBody: toChanges,
    fieldOf,
    disabledReason: useDisabledReason('updateRoute'),
  });
  return (
    <EditForm edit={edit} labels={words} onSaved={() => notify(words.saved)}>
      <RouteFields form={edit.form} exists />
    </EditForm>
  );
};

export const RoutePage = () => {
  const { routeId } = useParams({ from: '/shell/routes/$routeId' });
  const params = { route_id: routeId };
  const got = useOperation('getRoute', params, { every: listPolling(false) });
  const toggle = useAction(async (enabled: boolean) => {
    await perform('updateRoute', params, { body: { enabled }, ifMatch: null });
    notify(enabled ? words.turnedOn : words.turnedOff);
  });
  const mayChange = useDisabledReason('updateRoute');
  return (
    <DetailPage
      got={got}
      operation="getRoute"
      kind={pages.route}
      name={({ name }) => name}
      list={{ label: pages.routes, href: to('/routes') }}
      id={routeId}
      lead={({ enabled, for: purpose }) => (
        <>
          {words.fors[purpose]}{' '}
          <OutcomeTag kind={enabled ? 'on-time' : 'skipped'}>{enabled ? words.on : words.off}</OutcomeTag>
        </>
      )}
      removal={{ operation: 'deleteRoute', params, words, text: () => <p>{words.deleteText}</p> }}
      actions={({ enabled }) => (
        <Button busy={toggle.busy} disabledReason={mayChange} onClick={() => void toggle.run(!enabled)}>
          {enabled ? words.turnOff : words.turnOn}
        </Button>
      )}
      problem={toggle.error}
    >
      {(route) => <Settings route={route} etag={got.etag} />}
    </DetailPage>
  );
};
