import { useState } from 'react';
import { request, useEditForm, useGet, usePermission } from '../../api/index.ts';
import type { DocumentIntelligence, DocumentIntelligenceTest } from '../../api/types.gen.ts';
import { DeleteDialog, EditForm, useSettingsTest } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { documentIntelligence as words } from '../../text/en/document-intelligence.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import { Button, Loaded, notify, Page, Problem, permissionReason, TestSteps, Words } from '../../ui/index.ts';
import { ReaderFields } from './ReaderFields.tsx';
import { fieldOf, isMoved, secrets, toBody, toValues, type Values } from './values.ts';

const address = '/api/v2/document-intelligence';

const ResetDialog = ({
  etag,
  onDeleted,
  onClose,
}: {
  etag: string | null;
  onDeleted: () => void;
  onClose: () => void;
}) => (
  <DeleteDialog
    path={address}
    etag={etag}
    title={words.reset}
    deleted={words.wasReset}
    invalidates={[address]}
    onDeleted={onDeleted}
    onClose={onClose}
  >
    <p>{words.resetText}</p>
  </DeleteDialog>
);

const Settings = ({ configuration, etag }: { configuration: DocumentIntelligence; etag: string | null }) => {
  const mayTest = permissionReason(usePermission('testDocumentIntelligence'));
  const edit = useEditForm<DocumentIntelligence, Values>({
    path: address,
    loaded: { body: configuration, etag },
    toValues,
    secrets,
    fieldOf,
    save: (values, ifMatch) => request('PUT', address, { body: toBody(values), ifMatch }),
    disabledReason: permissionReason(usePermission('putDocumentIntelligence')),
  });
  const { form, saved } = edit;
  const test = useSettingsTest<DocumentIntelligenceTest, Values>(form, `${address}/test`, toBody);
  const moved = isMoved(form.values, toValues(saved));
  const has = {
    api_key: saved.settings.api_key_set === true,
    headers: saved.settings.header_names ?? [],
  };
  return (
    <EditForm
      edit={edit}
      labels={words}
      texts={{ provider: (name) => words.providers[name], ocr: (ocr) => words.ocrs[ocr] }}
      onSaved={() => notify(words.saved)}
      kind="primary"
      actions={
        <Button busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
          {common.test}
        </Button>
      }
    >
      <ReaderFields
        form={form}
        stored={moved ? { api_key: false, headers: [] } : has}
        moved={moved && (has.api_key || has.headers.length > 0) && form.values.provider === saved.provider}
      />
      {test.error && <Problem error={test.error} />}
      {test.result && (
        <TestSteps
          label={words.testTitle}
          ok={test.result.ok}
          title={test.result.ok ? words.testOk : words.testFailed}
          steps={test.result.steps.map(({ step, ...result }) => ({ name: words.steps[step], ...result }))}
        />
      )}
    </EditForm>
  );
};

/** Who reads documents, and with which model their data are found. */
export const DocumentIntelligencePage = () => {
  const got = useGet<DocumentIntelligence>(address);
  const mayDelete = permissionReason(usePermission('deleteDocumentIntelligence'));
  const [resetting, setResetting] = useState(false);
  // What was typed goes with the configuration: saved as a change of it, it would be refused as a change of someone else.
  const [resets, setResets] = useState(0);
  const { data } = got;
  return (
    <Page
      title={pages.documentIntelligence}
      lead={
        data && (
          <>
            {words.lead} {data.configured ? words.state(words.providers[data.provider]) : words.embeddedState}{' '}
            {data.updated_at && (
              <Words text={words.changed} at={<Time at={data.updated_at} form="relative" />} />
            )}{' '}
            {data.provider !== 'embedded' && words.readHere}
          </>
        )
      }
      actions={
        data && (
          <Button
            kind="quiet-danger"
            disabledReason={mayDelete ?? (data.configured ? null : words.notConfigured)}
            onClick={() => setResetting(true)}
          >
            {words.reset}
          </Button>
        )
      }
    >
      <Loaded got={got} operation="getDocumentIntelligence">
        {(configuration) => <Settings key={resets} configuration={configuration} etag={got.etag} />}
      </Loaded>
      {resetting && (
        <ResetDialog
          etag={got.etag}
          onDeleted={() => setResets(resets + 1)}
          onClose={() => setResetting(false)}
        />
      )}
    </Page>
  );
};
