import { useState } from 'react';
import {
  type LoadState,
  perform,
  useAction,
  useEditForm,
  useOperation,
  usePermission,
} from '../../api/index.ts';
import { EditForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { branding as words } from '../../text/en/branding.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import {
  ActionDialog,
  Button,
  Loaded,
  notify,
  Page,
  permissionReason,
  Section,
  Skeleton,
  TextField,
  Words,
} from '../../ui/index.ts';
import { BrandingPreview } from './BrandingPreview.tsx';
import { ColorField } from './ColorField.tsx';
import { LogoField } from './LogoField.tsx';
import { type Branding, empty, image, labels, toValues } from './values.ts';

const ClearBranding = ({
  disabledReason,
  onCleared,
}: {
  disabledReason: string | null;
  onCleared: () => void;
}) => {
  const [open, setOpen] = useState(false);
  const action = useAction(async () => {
    await perform('updateBranding', {}, { body: empty, ifMatch: null });
    onCleared();
    setOpen(false);
    notify(words.resetDone);
  });
  return (
    <>
      <Button kind="quiet-danger" disabledReason={disabledReason} onClick={() => setOpen(true)}>
        {words.reset}
      </Button>
      <ActionDialog
        open={open}
        onClose={() => setOpen(false)}
        title={words.reset}
        kind="danger"
        onConfirm={() => void action.run()}
        busy={action.busy}
        error={action.error}
      >
        <p>{words.resetQuestion}</p>
      </ActionDialog>
    </>
  );
};

const BrandingForm = ({ branding, got }: { branding: Branding; got: LoadState<Branding> }) => {
  const disabledReason = permissionReason(usePermission('updateBranding'));
  const edit = useEditForm({
    read: 'getBranding',
    change: 'updateBranding',
    params: {},
    loaded: { body: branding, etag: got.etag },
    toValues,
    toBody: (values) => values,
    disabledReason,
  });
  const { form } = edit;
  return (
    <EditForm
      edit={edit}
      labels={labels}
      texts={{ logo_data_url: image, logo_dark_data_url: image }}
      onSaved={() => notify(words.saved)}
      kind="primary"
      // Unsaved input goes, too: the form then follows the loaded values.
      actions={<ClearBranding disabledReason={disabledReason} onCleared={() => form.reset()} />}
      side={
        <Section title={words.preview}>
          <BrandingPreview values={form.values} />
        </Section>
      }
    >
      <TextField {...form.field('workspace_name')} label={words.name} hint={words.nameHint} />
      <ColorField {...form.field('primary_color')} />
      <LogoField {...form.field('logo_data_url')} label={words.logo} hint={words.logoHint} />
      <LogoField {...form.field('logo_dark_data_url')} label={words.logoDark} hint={words.logoDarkHint} />
    </EditForm>
  );
};

export const BrandingPage = () => {
  const got = useOperation('getBranding', {});
  return (
    <Page
      title={pages.branding}
      crumbs={[{ label: pages.settings, href: to('/settings') }]}
      lead={
        <>
          {words.lead}
          {got.data?.updated_at && (
            <>
              {' '}
              <Words text={words.changedAt} at={<Time at={got.data.updated_at} form="relative" />} />
            </>
          )}
        </>
      }
    >
      <Loaded got={got} operation="getBranding" skeleton={<Skeleton rows={6} height={62} />}>
        {(branding) => <BrandingForm branding={branding} got={got} />}
      </Loaded>
    </Page>
  );
};
