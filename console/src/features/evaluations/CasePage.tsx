import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { type Edit, useEditForm, useOperation } from '../../api/index.ts';
import type { PublicCase } from '../../api/types.gen.ts';
import { Messages, type ToolResultPart } from '../../messages/index.ts';
import { DetailPage, EditForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import {
  Box,
  Button,
  Checkbox,
  EmptyState,
  Link,
  Muted,
  notify,
  Section,
  Textarea,
  TextField,
  useDisabledReason,
  Words,
} from '../../ui/index.ts';
import { type CaseValues, toBody, toValues, withResult } from './case-values.ts';
import { EditResult } from './EditResult.tsx';
import css from './evaluations.module.css';
import { GraderList } from './GraderList.tsx';
import { toShown } from './transcript.ts';

const mostGraders = 10;

const Lead = ({ one: { source, revision } }: { one: PublicCase }) => (
  <>
    {source?.work_item_id ? (
      <Words
        text={words.fromWorkItem}
        link={
          <Link href={to('/work-items/$workItemId', { workItemId: source.work_item_id })}>
            {words.aWorkItem}
          </Link>
        }
      />
    ) : source ? (
      words.fromRun
    ) : (
      words.byHand
    )}{' '}
    {words.revision(revision)}
  </>
);

const Recording = ({ edit }: { edit: Edit<PublicCase, CaseValues> }) => {
  const { form } = edit;
  const { recording } = form.values;
  const [editing, setEditing] = useState<ToolResultPart | null>(null);
  const changed = JSON.stringify(recording) !== JSON.stringify(edit.saved.tape?.messages ?? null);
  return (
    <Section title={words.recording} note={changed && <span role="status">{words.resultChanged}</span>}>
      <Box>
        {recording === null ? (
          <EmptyState sentence={words.noRecording} />
        ) : (
          <Messages
            label={words.recorded}
            messages={toShown(recording, 'recorded')}
            resultAction={(result) => (
              <Button
                small
                kind="quiet"
                disabledReason={form.disabledReason}
                onClick={() => setEditing(result)}
              >
                {words.editResult}
              </Button>
            )}
          />
        )}
      </Box>
      {editing && recording && (
        <EditResult
          result={editing}
          onChange={(patch) => form.set({ recording: withResult(recording, editing.tool_call_id, patch) })}
          onClose={() => setEditing(null)}
        />
      )}
    </Section>
  );
};

const CaseForm = ({ one, etag }: { one: PublicCase; etag: string | null }) => {
  const disabledReason = useDisabledReason('updateCase');
  const edit = useEditForm({
    read: 'getCase',
    change: 'updateCase',
    params: { dataset_id: one.dataset_id, case_id: one.id },
    loaded: { body: one, etag },
    toValues,
    toBody,
    fieldOf: (path) => path.replace(/^input\.(message|payload)/, '$1').replace(/^tape/, 'recording'),
    disabledReason,
  });
  const { form } = edit;
  const { input } = one;
  return (
    <EditForm
      edit={edit}
      labels={words}
      side={
        <div className={css.fields}>
          <TextField {...form.field('name')} label={words.name} required />
          <TextField {...form.field('tags')} label={words.tags} hint={words.tagsHint} />
          <Checkbox {...form.field('enabled')} label={words.enabled} hint={words.enabledHint} />
          {one.files.length + one.data_frames.length > 0 && (
            <Muted small>{words.copies(one.files.length, one.data_frames.length)}</Muted>
          )}
        </div>
      }
      texts={{
        graders: (list) => JSON.stringify(list, null, 2),
        recording: (messages) => JSON.stringify(messages, null, 2),
      }}
      onSaved={() => notify(words.caseSaved)}
    >
      <Section title={words.input}>
        <div className={css.fields}>
          <Textarea {...form.field('message')} label={words.message} rows={5} />
          {input.payload !== undefined && (
            <Textarea
              {...form.field('payload')}
              label={words.payload}
              hint={words.payloadHint}
              rows={4}
              mono
            />
          )}
          {input.history && input.history.length > 0 && (
            <>
              <h3>{words.history}</h3>
              <Box>
                <Messages label={words.history} messages={toShown(input.history, 'history')} />
              </Box>
            </>
          )}
        </div>
      </Section>
      <Section title={words.expected} note={words.expectedHint}>
        <Textarea {...form.field('expected')} label={words.expected} hiddenLabel rows={4} mono />
      </Section>
      <Recording edit={edit} />
      <Section title={words.graders}>
        <div className={css.fields}>
          <GraderList {...form.field('graders')} most={mostGraders} none={words.noOwnGraders} />
        </div>
      </Section>
    </EditForm>
  );
};

export const CasePage = () => {
  const { datasetId, caseId } = useParams({ from: '/shell/evaluations/datasets/$datasetId/cases/$caseId' });
  const params = { dataset_id: datasetId, case_id: caseId };
  const got = useOperation('getCase', params);
  const { data: dataset } = useOperation('getDataset', { dataset_id: datasetId });
  return (
    <DetailPage
      got={got}
      operation="getCase"
      kind={words.case}
      name={({ name }) => name}
      list={{
        label: dataset?.name ?? words.dataset,
        href: to('/evaluations/datasets/$datasetId', { datasetId }),
      }}
      id={caseId}
      lead={(one) => <Lead one={one} />}
      removal={{
        operation: 'deleteCase',
        params,
        words: { deleteTitle: words.deleteCase, deleted: words.caseDeleted },
        text: () => <p>{words.deleteCaseText}</p>,
      }}
    >
      {(one) => <CaseForm key={one.id} one={one} etag={got.etag} />}
    </DetailPage>
  );
};
