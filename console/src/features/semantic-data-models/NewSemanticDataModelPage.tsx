import { pages } from '../../text/en/pages.ts';
import { Page } from '../../ui/index.ts';

export const NewSemanticDataModelPage = () => <Page title={pages.newSemanticDataModel} />;
