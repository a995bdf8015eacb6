import { useParams } from '@tanstack/react-router';
import { useOperation, usePermission } from '../../api/index.ts';
import type { Extraction } from '../../api/types.gen.ts';
import { DeleteButton } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { extractions as words } from '../../text/en/extractions.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import {
  Button,
  ButtonLink,
  Callout,
  downloadText,
  Emphasis,
  Loaded,
  Page,
  permissionReason,
  Skeleton,
  Words,
} from '../../ui/index.ts';
import { Result } from './Result.tsx';
import { StateTag } from './StateTag.tsx';
import { isFound, leavesOf, treeOf } from './values.ts';

const Lead = ({ extraction }: { extraction: Extraction }) => {
  const { status, file, provider, expires_at, valid } = extraction;
  const leaves = leavesOf(treeOf(extraction));
  const present = leaves.filter(({ state }) => state !== 'none');
  const absent = present.filter((leaf) => !isFound(leaf)).length;
  const missing = leaves.length - present.length;
  const reader = words.providers[provider as keyof typeof words.providers] ?? provider;
  return (
    <>
      <StateTag extraction={extraction} />{' '}
      {[file.pages === null ? null : words.pages(file.pages), words.read(reader)].filter(Boolean).join(', ')}
      {'. '}
      {status === 'COMPLETED' && present.length > 0 && (
        <>
          {words.summary(present.length - absent, present.length)}{' '}
          {absent > 0 && <Emphasis tone="missing">{words.notFoundCount(absent)} </Emphasis>}
        </>
      )}
      {status === 'COMPLETED' && missing > 0 && `${words.missingCount(missing)} `}
      {valid === false && <Emphasis tone="late">{words.invalid} </Emphasis>}
      {expires_at && <Words text={words.expiresAt} at={<Time at={expires_at} form="relative" />} />}
    </>
  );
};

const adviceOf = (code: string): string =>
  words.advice[code as keyof typeof words.advice] ?? words.advice.other;

const Progress = ({ extraction }: { extraction: Extraction }) => (
  <div role="status">
    <Callout title={extraction.status === 'PENDING' ? words.waiting : words.working}>
      <Words text={words.since} at={<Time at={extraction.created_at} form="relative" />} />
    </Callout>
    <Skeleton rows={6} height={44} />
  </div>
);

const Content = ({ extraction }: { extraction: Extraction }) => {
  const { status, error } = extraction;
  if (status === 'PENDING' || status === 'RUNNING') return <Progress extraction={extraction} />;
  if (error) {
    return (
      <Callout tone="bad" title={error.message}>
        {adviceOf(error.code)}
      </Callout>
    );
  }
  return <Result extraction={extraction} />;
};

export const ExtractionPage = () => {
  const { extractionId } = useParams({ from: '/shell/extractions/$extractionId' });
  const params = { extraction_id: extractionId };
  const got = useOperation('getExtraction', params);
  const open = got.data?.finished_at === null;
  // The same data: it only makes them be read again while it works.
  useOperation('getExtraction', params, { every: 1_000, enabled: open });
  const mayDelete = permissionReason(usePermission('deleteExtraction'));
  const mayCreate = permissionReason(usePermission('createExtraction'));
  const { data } = got;
  return (
    <Page
      title={data?.file.name ?? pages.extraction}
      titlePrefix={data && data.status !== 'COMPLETED' ? words.states[data.status] : undefined}
      crumbs={[{ label: pages.extractions, href: to('/extractions') }]}
      lead={data && <Lead extraction={data} />}
      actions={
        data && (
          <>
            <DeleteButton
              operation="deleteExtraction"
              params={params}
              title={words.deleteTitle}
              name={<bdi>{data.file.name}</bdi>}
              deleted={words.deleted}
              opens={to('/extractions')}
              disabledReason={mayDelete}
            >
              <p>{words.deleteText}</p>
              {data.finished_at === null && <p>{words.cancelText}</p>}
            </DeleteButton>
            {data.data && (
              <Button
                kind="quiet"
                onClick={() => downloadText(JSON.stringify(data.data, null, 2), `${data.file.name}.json`)}
              >
                {words.download}
              </Button>
            )}
            <ButtonLink href={to('/extractions/new')} disabledReason={mayCreate}>
              {pages.newExtraction}
            </ButtonLink>
          </>
        )
      }
    >
      <Loaded
        got={got}
        operation="getExtraction"
        list={{ label: pages.extractions, href: to('/extractions') }}
        audit={to('/audit', {}, { target_id: extractionId })}
        skeleton={<Skeleton rows={8} height={44} />}
      >
        {(extraction) => <Content extraction={extraction} />}
      </Loaded>
    </Page>
  );
};
