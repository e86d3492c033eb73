-- A library of version 14, the last before the first release, as that Paperscope wrote it: two papers, a stored reply
-- and vector, a job, and a conversation with an answer.
CREATE TABLE calls (
    "key" TEXT NOT NULL,
    model TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY ("key")
);
CREATE TABLE changes (
    revision INTEGER NOT NULL,
    paper TEXT NOT NULL,
    action TEXT NOT NULL,
    token TEXT NOT NULL,
    PRIMARY KEY (revision)
);
CREATE TABLE conversations (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    created FLOAT NOT NULL,
    updated FLOAT NOT NULL,
    UNIQUE (id)
);
CREATE INDEX ix_conversations_updated ON conversations (updated);
CREATE TABLE embeddings (
    embedder TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (embedder, sha256)
);
CREATE TABLE jobs (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    request TEXT NOT NULL,
    stage TEXT NOT NULL,
    done INTEGER NOT NULL,
    total INTEGER NOT NULL,
    error TEXT NOT NULL,
    result TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    cancelling BOOLEAN NOT NULL,
    owner TEXT NOT NULL,
    reserved TEXT NOT NULL,
    lease_end FLOAT NOT NULL,
    created FLOAT NOT NULL,
    started FLOAT,
    finished FLOAT,
    UNIQUE (id)
);
CREATE INDEX ix_jobs_state ON jobs (state);
CREATE TABLE library (
    version INTEGER NOT NULL,
    PRIMARY KEY (version)
);
CREATE TABLE meanings (
    short TEXT NOT NULL,
    home TEXT NOT NULL,
    PRIMARY KEY (short)
);
CREATE INDEX ix_meanings_home ON meanings (home);
CREATE TABLE papers (
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    title TEXT NOT NULL,
    file TEXT NOT NULL,
    source TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    embedder TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (revision)
);
CREATE INDEX ix_papers_sha256 ON papers (sha256);
CREATE INDEX ix_papers_source ON papers (source);
CREATE TABLE additions (
    paper TEXT NOT NULL,
    time FLOAT NOT NULL,
    PRIMARY KEY (paper),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE TABLE bylines (
    paper TEXT NOT NULL,
    authors TEXT NOT NULL,
    year INTEGER,
    PRIMARY KEY (paper),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE TABLE chunks (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    paper TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (id),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE INDEX ix_chunks_paper ON chunks (paper);
CREATE TABLE elements (
    paper TEXT NOT NULL,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (paper, position),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE,
    UNIQUE (id)
);
CREATE TABLE entities (
    paper TEXT NOT NULL,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (paper, position),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE INDEX entities_by_id ON entities (id, paper);
CREATE TABLE images (
    paper TEXT NOT NULL,
    reader TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (paper),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE TABLE paper_crops (
    paper TEXT NOT NULL,
    crop TEXT NOT NULL,
    PRIMARY KEY (paper, crop),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE TABLE publications (
    paper TEXT NOT NULL,
    venue TEXT NOT NULL,
    doi TEXT NOT NULL,
    arxiv TEXT NOT NULL,
    PRIMARY KEY (paper),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE TABLE relations (
    paper TEXT NOT NULL,
    position INTEGER NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    kind TEXT NOT NULL,
    weight FLOAT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (paper, position),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE INDEX relations_by_paper ON relations (paper, source, target, kind, weight);
CREATE INDEX relations_by_source ON relations (source, target, kind, weight, paper);
CREATE INDEX relations_by_target ON relations (target, source, kind, weight, paper);
CREATE TABLE short_forms (
    paper TEXT NOT NULL,
    entity TEXT NOT NULL,
    short TEXT NOT NULL,
    sense TEXT NOT NULL,
    PRIMARY KEY (paper, entity, short, sense),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE INDEX short_forms_by_entity ON short_forms (entity, sense, paper, short);
CREATE INDEX short_forms_by_short ON short_forms (short, sense, entity, paper);
CREATE TABLE shortfalls (
    paper TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (paper),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE TABLE turns (
    conversation TEXT NOT NULL,
    position INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (conversation, position),
    FOREIGN KEY(conversation) REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE TABLE verdicts (
    paper TEXT NOT NULL,
    position INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (paper, position),
    FOREIGN KEY(paper) REFERENCES papers (id) ON DELETE CASCADE
);
CREATE TABLE chunk_elements (
    chunk INTEGER NOT NULL,
    element TEXT NOT NULL,
    PRIMARY KEY (chunk, element),
    FOREIGN KEY(chunk) REFERENCES chunks (number) ON DELETE CASCADE
);
CREATE INDEX ix_chunk_elements_element ON chunk_elements (element);
CREATE TABLE vectors (
    chunk INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (chunk),
    FOREIGN KEY(chunk) REFERENCES chunks (number) ON DELETE CASCADE
);
INSERT INTO calls VALUES ('key', 'model', '{"text":"yes","usage":{"calls":1,"cached":0,"prompt_tokens":0,"completion_tokens":0,"cost":0.5},"cut":false}');
INSERT INTO changes VALUES (1, 'aaaa00000001', 'added', '021e072ef3d71492');
INSERT INTO changes VALUES (2, 'bbbb00000002', 'added', '34e3f4b705a9e715');
INSERT INTO conversations VALUES (1, 'conversation-737a99fc9f92dfa4f9d902e7', 'Which F1?', 1795743154.4729543, 1795743154.6198108);
INSERT INTO embeddings VALUES ('fake-8', '982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1', X'61b82b3e6021cc3e9331243e5ae221bf59efe03e85cd5d3ed56785beda60903e');
INSERT INTO jobs VALUES (1, 'job-1', 'add', 'queued', '{}', '', 0, 0, '', '', 0, 0, '', '', 1795743244.4442484, 1795743154.4442484, NULL, NULL);
INSERT INTO library VALUES (14);
INSERT INTO meanings VALUES ('LLM', 'large language model');
INSERT INTO papers VALUES ('aaaa00000001', 1, 'On paper aaaa00000001', 'aaaa00000001.pdf', '/papers/aaaa00000001.pdf', 'e32a147c46e8aa8bf48ee41a5501d9f0b2ff5625977463c0eb96cad907ba5fa3', 'fake-8', '{"id":"aaaa00000001","title":"On paper aaaa00000001","authors":["A. Writer","B. Ødegård"],"sha256":"e32a147c46e8aa8bf48ee41a5501d9f0b2ff5625977463c0eb96cad907ba5fa3","file":"aaaa00000001.pdf","pages":[{"number":1,"width":595.0,"height":842.0}],"sections":[{"id":"s1","number":"1","title":"One","level":1,"path":"1 One"}],"elements":[],"links":[{"source":"aaaa00000001/passage-1","target":"aaaa00000001/table-1","text":"Table 1"}],"problems":[],"format":"pdf","publication":{"year":null,"venue":"","doi":"","arxiv":""}}');
INSERT INTO papers VALUES ('bbbb00000002', 2, 'On paper bbbb00000002', 'bbbb00000002.pdf', '/papers/bbbb00000002.pdf', '97dc8d518a5d65fa994443e866c27f22747916a875845e11044f862807a81d30', 'fake-8', '{"id":"bbbb00000002","title":"On paper bbbb00000002","authors":["A. Writer","B. Ødegård"],"sha256":"97dc8d518a5d65fa994443e866c27f22747916a875845e11044f862807a81d30","file":"bbbb00000002.pdf","pages":[{"number":1,"width":595.0,"height":842.0}],"sections":[{"id":"s1","number":"1","title":"One","level":1,"path":"1 One"}],"elements":[],"links":[{"source":"bbbb00000002/passage-1","target":"bbbb00000002/table-1","text":"Table 1"}],"problems":[],"format":"pdf","publication":{"year":null,"venue":"","doi":"","arxiv":""}}');
INSERT INTO additions VALUES ('aaaa00000001', 1795743154.0091927);
INSERT INTO additions VALUES ('bbbb00000002', 1795743154.377458);
INSERT INTO bylines VALUES ('aaaa00000001', 'A. Writer
B. Ødegård', NULL);
INSERT INTO bylines VALUES ('bbbb00000002', 'A. Writer
B. Ødegård', NULL);
INSERT INTO chunks VALUES (1, 'aaaa00000001/chunk-1', 'aaaa00000001', '{"id":"aaaa00000001/chunk-1","paper":"aaaa00000001","text":"We train BERT and report BERT seen.","elements":["aaaa00000001/passage-1"],"section":"1 One","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"seen":"","more_places":[]}');
INSERT INTO chunks VALUES (2, 'aaaa00000001/chunk-2', 'aaaa00000001', '{"id":"aaaa00000001/chunk-2","paper":"aaaa00000001","text":"We train large language model and report large language model seen.","elements":["aaaa00000001/passage-2"],"section":"1 One","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"seen":"","more_places":[]}');
INSERT INTO chunks VALUES (3, 'bbbb00000002/chunk-1', 'bbbb00000002', '{"id":"bbbb00000002/chunk-1","paper":"bbbb00000002","text":"BERT doesn''t train.","elements":["bbbb00000002/passage-1"],"section":"1 One","place":{"paper":"bbbb00000002","page":1,"box":[10.0,20.0,30.5,40.0]},"seen":"","more_places":[]}');
INSERT INTO elements VALUES ('aaaa00000001', 0, 'aaaa00000001/passage-1', 'passage', '{"id":"aaaa00000001/passage-1","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"order":1,"text":"We train BERT and report BERT seen.","role":"paragraph","section":"","level":0,"more_places":[],"label":"","caption":"","caption_place":null,"lines":[],"kind":"passage"}');
INSERT INTO elements VALUES ('aaaa00000001', 1, 'aaaa00000001/passage-2', 'passage', '{"id":"aaaa00000001/passage-2","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"order":2,"text":"We train large language model and report large language model seen.","role":"paragraph","section":"","level":0,"more_places":[],"label":"","caption":"","caption_place":null,"lines":[],"kind":"passage"}');
INSERT INTO elements VALUES ('aaaa00000001', 2, 'aaaa00000001/equation-1', 'equation', '{"id":"aaaa00000001/equation-1","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"order":90,"text":"a = b","label":"","section":"","crop":null,"kind":"equation"}');
INSERT INTO elements VALUES ('aaaa00000001', 3, 'aaaa00000001/reference-1', 'reference', '{"id":"aaaa00000001/reference-1","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"order":91,"text":"[1] Li et al.","label":"","year":2020,"section":"","more_places":[],"lines":[],"kind":"reference"}');
INSERT INTO elements VALUES ('aaaa00000001', 4, 'aaaa00000001/figure-1', 'figure', '{"id":"aaaa00000001/figure-1","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"order":92,"label":"","caption":"A figure","caption_place":null,"text":"","section":"","crop":"8d20e7b74a6b7da14ee95d24810de07fbfc8195884118bc35f851579a39d916d","panels":[],"more_places":[],"more_crops":[],"kind":"figure"}');
INSERT INTO elements VALUES ('aaaa00000001', 5, 'aaaa00000001/table-1', 'table', '{"id":"aaaa00000001/table-1","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"order":93,"cells":[{"row":0,"column":0,"text":"Model","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"row_span":1,"column_span":1,"role":"column_header","bold":false,"annotation":""},{"row":1,"column":0,"text":"4.5","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"row_span":1,"column_span":1,"role":"value","bold":true,"annotation":""}],"label":"","caption":"A table","caption_place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"header_rows":0,"section":"","crop":null,"confidence":1.0,"more_places":[],"more_crops":[],"kind":"table"}');
INSERT INTO elements VALUES ('bbbb00000002', 0, 'bbbb00000002/passage-1', 'passage', '{"id":"bbbb00000002/passage-1","place":{"paper":"bbbb00000002","page":1,"box":[10.0,20.0,30.5,40.0]},"order":1,"text":"BERT doesn''t train.","role":"paragraph","section":"","level":0,"more_places":[],"label":"","caption":"","caption_place":null,"lines":[],"kind":"passage"}');
INSERT INTO elements VALUES ('bbbb00000002', 1, 'bbbb00000002/equation-1', 'equation', '{"id":"bbbb00000002/equation-1","place":{"paper":"bbbb00000002","page":1,"box":[10.0,20.0,30.5,40.0]},"order":90,"text":"a = b","label":"","section":"","crop":null,"kind":"equation"}');
INSERT INTO elements VALUES ('bbbb00000002', 2, 'bbbb00000002/reference-1', 'reference', '{"id":"bbbb00000002/reference-1","place":{"paper":"bbbb00000002","page":1,"box":[10.0,20.0,30.5,40.0]},"order":91,"text":"[1] Li et al.","label":"","year":2020,"section":"","more_places":[],"lines":[],"kind":"reference"}');
INSERT INTO elements VALUES ('bbbb00000002', 3, 'bbbb00000002/figure-1', 'figure', '{"id":"bbbb00000002/figure-1","place":{"paper":"bbbb00000002","page":1,"box":[10.0,20.0,30.5,40.0]},"order":92,"label":"","caption":"A figure","caption_place":null,"text":"","section":"","crop":"90cc71d44aea95f14d29aff9988ae07575a07b27f0bc1186788c74bd3ffdd4df","panels":[],"more_places":[],"more_crops":[],"kind":"figure"}');
INSERT INTO elements VALUES ('bbbb00000002', 4, 'bbbb00000002/table-1', 'table', '{"id":"bbbb00000002/table-1","place":{"paper":"bbbb00000002","page":1,"box":[10.0,20.0,30.5,40.0]},"order":93,"cells":[{"row":0,"column":0,"text":"Model","place":{"paper":"bbbb00000002","page":1,"box":[10.0,20.0,30.5,40.0]},"row_span":1,"column_span":1,"role":"column_header","bold":false,"annotation":""},{"row":1,"column":0,"text":"4.5","place":{"paper":"bbbb00000002","page":1,"box":[10.0,20.0,30.5,40.0]},"row_span":1,"column_span":1,"role":"value","bold":true,"annotation":""}],"label":"","caption":"A table","caption_place":{"paper":"bbbb00000002","page":1,"box":[10.0,20.0,30.5,40.0]},"header_rows":0,"section":"","crop":null,"confidence":1.0,"more_places":[],"more_crops":[],"kind":"table"}');
INSERT INTO entities VALUES ('aaaa00000001', 0, 'bert', '{"id":"bert","name":"BERT","type":"metric","description":"BERT is used seen","sources":["aaaa00000001/passage-1"],"aliases":["BERT variant"],"mentions":[{"element":"aaaa00000001/passage-1","start":0,"end":4}]}');
INSERT INTO entities VALUES ('aaaa00000001', 1, 'large language model', '{"id":"large language model","name":"large language model","type":"method","description":"large language model is used seen","sources":["aaaa00000001/passage-1","aaaa00000001/table-1"],"aliases":["large language model variant","LLM"],"mentions":[{"element":"aaaa00000001/passage-1","start":1,"end":21}]}');
INSERT INTO entities VALUES ('bbbb00000002', 0, 'bert', '{"id":"bert","name":"BERT","type":"metric","description":"BERT is used","sources":["bbbb00000002/passage-1"],"aliases":["BERT variant"],"mentions":[{"element":"bbbb00000002/passage-1","start":0,"end":4}]}');
INSERT INTO entities VALUES ('bbbb00000002', 1, 'llm', '{"id":"llm","name":"LLM","type":"method","description":"LLM is used","sources":["bbbb00000002/passage-1","bbbb00000002/table-1"],"aliases":["LLM variant"],"mentions":[{"element":"bbbb00000002/passage-1","start":1,"end":4}]}');
INSERT INTO images VALUES ('aaaa00000001', 'model prompt', '{"reader":"model prompt","readings":[{"element":"aaaa00000001/equation-1","crop":"c","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"picture":"plot","text":"seen","visible_text":["F1","β"],"entities":[{"name":"F1","type":"metric","description":"seen"}],"points":[{"series":"","x":"1","y":"2 %","estimated":true}],"latex":"\\frac{a}{b}","dropped":3,"kind":"description"},{"element":"aaaa00000001/figure-1","crop":"d","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"reason":"blank","kind":"skipped"},{"element":"aaaa00000001/table-1","crop":"e","place":{"paper":"aaaa00000001","page":1,"box":[10.0,20.0,30.5,40.0]},"reason":"no connection","kind":"unread"}]}');
INSERT INTO paper_crops VALUES ('aaaa00000001', '8d20e7b74a6b7da14ee95d24810de07fbfc8195884118bc35f851579a39d916d');
INSERT INTO paper_crops VALUES ('bbbb00000002', '90cc71d44aea95f14d29aff9988ae07575a07b27f0bc1186788c74bd3ffdd4df');
INSERT INTO publications VALUES ('aaaa00000001', '', '', '');
INSERT INTO publications VALUES ('bbbb00000002', '', '', '');
INSERT INTO relations VALUES ('aaaa00000001', 0, 'bert', 'large language model', 'compared_with', 1.0, '{"source":"bert","target":"large language model","kind":"compared_with","description":"BERT against large language model","sources":["aaaa00000001/passage-1","aaaa00000001/table-1"],"weight":1.0}');
INSERT INTO relations VALUES ('bbbb00000002', 0, 'bert', 'llm', 'compared_with', 1.0, '{"source":"bert","target":"llm","kind":"compared_with","description":"BERT against LLM","sources":["bbbb00000002/passage-1","bbbb00000002/table-1"],"weight":1.0}');
INSERT INTO short_forms VALUES ('aaaa00000001', 'bert', 'BERT', '');
INSERT INTO short_forms VALUES ('aaaa00000001', 'large language model', 'LLM', 'large language model');
INSERT INTO short_forms VALUES ('bbbb00000002', 'bert', 'BERT', '');
INSERT INTO short_forms VALUES ('bbbb00000002', 'llm', 'LLM', '');
INSERT INTO shortfalls VALUES ('aaaa00000001', '{"unread":[{"chunk":"aaaa00000001/chunk-1","reason":"seen"}],"dropped_entities":0,"dropped_relations":0,"unjudged":[{"names":["A","C"],"reason":"seen"}],"unsummarised":[]}');
INSERT INTO turns VALUES ('conversation-737a99fc9f92dfa4f9d902e7', 0, '{"question":"Which F1?","status":"answered","text":"The F1 is 0.83.","claims":[{"text":"The F1 is 0.83.","evidence":[{"element":"aaaa00000001/passage-1","place":{"paper":"aaaa00000001","page":1,"box":[1.5,2.25,30.0,40.125]},"quote":"It is 0.83.","more_places":[{"paper":"aaaa00000001","page":2,"box":[1.5,2.25,30.0,40.125]}],"name":"","pictures":[]}]}],"context":{"entities":[],"relations":[],"sources":[],"images":[],"warnings":[]},"readings":[],"exhibits":[],"initial":"","merged":"","model":"","usage":{"calls":0,"cached":0,"prompt_tokens":0,"completion_tokens":0,"cost":0.0},"seconds":0.0,"stages":[],"checks":[],"warnings":["0.83 is not in the evidence"],"confidence":null,"asked_as":""}');
INSERT INTO verdicts VALUES ('aaaa00000001', 0, '{"names":["A","B"],"same":false,"reason":"seen"}');
INSERT INTO chunk_elements VALUES (1, 'aaaa00000001/passage-1');
INSERT INTO chunk_elements VALUES (2, 'aaaa00000001/passage-2');
INSERT INTO chunk_elements VALUES (3, 'bbbb00000002/passage-1');
INSERT INTO vectors VALUES (1, X'44b8963dd6e10cbe2e53c5be9382193f3fc48fbea98c88be7adfe83ecf59aabe');
INSERT INTO vectors VALUES (2, X'744136be22290ebfb0ac773eebe8fabeae95fabe0c588db91a82aabe7050d53d');
INSERT INTO vectors VALUES (3, X'95757d3e66797bbe5ea2383ef62e9dbe2c2b973ea53549bfd267fdbd8487353e');
