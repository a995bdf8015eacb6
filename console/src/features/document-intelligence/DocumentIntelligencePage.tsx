import { useState } from 'react';
import { useEditForm, useOperation, usePermission } from '../../api/index.ts';
import type { DocumentIntelligence } from '../../api/types.gen.ts';
import { areStored } from '../../resource/fields.tsx';
import { DeleteDialog, EditForm, FormFields, useSettingsTest } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { documentIntelligence as words } from '../../text/en/document-intelligence.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import { Button, Loaded, notify, Page, Problem, permissionReason, TestSteps, Words } from '../../ui/index.ts';
import { isMoved, readerForm } from './form.tsx';

const Settings = ({ configuration, etag }: { configuration: DocumentIntelligence; etag: string | null }) => {
  const mayTest = permissionReason(usePermission('testDocumentIntelligence'));
  const edit = useEditForm({
    read: 'getDocumentIntelligence',
    change: 'putDocumentIntelligence',
    params: {},
    loaded: { body: configuration, etag },
    ...readerForm.edit,
    disabledReason: permissionReason(usePermission('putDocumentIntelligence')),
  });
  const { form, saved } = edit;
  const { values } = form;
  const test = useSettingsTest(form, 'testDocumentIntelligence', (now) => readerForm.edit.toBody(now, now));
  const stored = readerForm.edit.toValues(saved);
  const moved = isMoved(values, stored);
  const again = moved && values.provider === saved.provider;
  return (
    <EditForm
      edit={edit}
      {...readerForm.compare}
      onSaved={() => notify(words.saved)}
      kind="primary"
      actions={
        <Button busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
          {common.test}
        </Button>
      }
    >
      <FormFields
        of={readerForm}
        form={form}
        more={
          again && (stored.api_key === null || stored.headers.length > 0)
            ? {
                api_key: { value: values.api_key ?? '', hint: words.keyAgain },
                headers: { value: areStored(values.headers) ? [] : values.headers, hint: words.headersAgain },
              }
            : {}
        }
      />
      {test.error && <Problem error={test.error} />}
      {test.result && <TestSteps words={words} result={test.result} />}
    </EditForm>
  );
};

/** Reader of documents, and the model that finds their data. */
export const DocumentIntelligencePage = () => {
  const got = useOperation('getDocumentIntelligence', {});
  const mayDelete = permissionReason(usePermission('deleteDocumentIntelligence'));
  const [resetting, setResetting] = useState(false);
  // Unsaved input goes with the configuration: saved later, it would be refused as if someone else had changed it.
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
        <DeleteDialog
          operation="deleteDocumentIntelligence"
          params={{}}
          etag={got.etag}
          title={words.reset}
          deleted={words.wasReset}
          onDeleted={() => setResets(resets + 1)}
          onClose={() => setResetting(false)}
        >
          <p>{words.resetText}</p>
        </DeleteDialog>
      )}
    </Page>
  );
};
