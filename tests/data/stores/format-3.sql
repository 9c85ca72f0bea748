PRAGMA application_id = 1919119991;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE announced (                   -- what sites say of their pages
    page integer primary key,
    said_at real not null,                 -- when it changed, as the site says
    pending integer not null               -- 1: not visited since
) strict;
CREATE TABLE asked_for (                   -- pages added while a process holds the crawl: it takes them in
    url text primary key,
    at real not null
) strict, without rowid;
CREATE TABLE barred (                      -- pages that are not visited, and why (recrawl.eligibility.Bar)
    page integer primary key,
    reason integer not null
) strict;
CREATE TABLE cycles (
    cycle integer primary key,
    at real not null,                      -- when its visits are due: the end of the cycle
    budget integer not null,
    policy text not null,
    heard integer,                         -- visits to sitemaps and feeds, part of the budget; null: not asked yet
    done integer not null default 0
) strict;
INSERT INTO "cycles" VALUES(1,2.07750265521392720987e+04,2,'age',0,1);
INSERT INTO "cycles" VALUES(2,20775.0265638263,8,'age',0,1);
INSERT INTO "cycles" VALUES(3,2.07750265754927822855e+04,10,'age',0,1);
INSERT INTO "cycles" VALUES(4,2.07750265871137598881e+04,10,'age',0,1);
INSERT INTO "cycles" VALUES(5,2.07750265987532875436e+04,10,'age',0,1);
CREATE TABLE feeds (                       -- sitemaps and feeds: where sites say what changed
    url text primary key,
    host text not null,                    -- on which it was found
    said_at real,                          -- when it changed, as the index that names it says
    read_said_at real,                     -- the same, when it was last read
    asked_cycle integer,                   -- null: never
    wait_cycles integer not null default 1,-- how long until it is asked again; doubles while nothing comes of it
    validators text not null default '{}'
) strict, without rowid;
CREATE TABLE first_links (                 -- links of pages whose links have been the same since the first visit
    page integer primary key,
    first_seen_at real not null,
    count integer not null,
    links text not null                    -- a line each: internal (0 or 1), target_page, target, anchor; tabs between
) strict;
INSERT INTO "first_links" VALUES(2,2.07750265643926795735e+04,0,'');
INSERT INTO "first_links" VALUES(3,2.07750265649937027783e+04,0,'');
INSERT INTO "first_links" VALUES(4,2.07750265764618125105e+04,0,'');
INSERT INTO "first_links" VALUES(5,2.07750265643847160392e+04,0,'');
INSERT INTO "first_links" VALUES(6,2.07750265650074143189e+04,0,'');
INSERT INTO "first_links" VALUES(7,2.07750265763308707383e+04,0,'');
INSERT INTO "first_links" VALUES(8,2.07750265760033835256e+04,0,'');
INSERT INTO "first_links" VALUES(9,2.07750265761380433111e+04,0,'');
CREATE TABLE host_bars (                   -- hosts that are not visited now, and why
    host integer primary key,
    reason integer not null
) strict;
CREATE TABLE hosts (
    host integer primary key,
    name text not null unique,
    added integer not null default 0,      -- 1: the user added pages of it, so it is in the scope
    gate text,                             -- politeness state as JSON, so that a restart keeps the delay
    signals_true integer not null default 0,   -- visits to pages that the host said had changed, and had
    signals_false integer not null default 0   -- ... and had not
) strict;
INSERT INTO "hosts" VALUES(1,'one.test',1,'{"host": "one.test", "saved_at": 20775.026599563822, "wait_s": 0.0, "delay_s": 0.0, "latency_s": 0.004640568145523154, "crawl_delay_s": 0.0, "failures": 0, "backoffs": 0}',0,0);
INSERT INTO "hosts" VALUES(2,'two.test',1,'{"host": "two.test", "saved_at": 20775.026599563822, "wait_s": 0.0, "delay_s": 0.0, "latency_s": 0.004069503008614284, "crawl_delay_s": 0.0, "failures": 0, "backoffs": 0}',0,0);
CREATE TABLE links (                       -- links of the other pages
    page integer not null,
    target text not null,
    target_page integer,
    internal integer not null,
    anchor text not null,
    first_seen_at real not null,
    gone_at real,                          -- the visit that no longer showed it; null while it is there
    primary key (page, target)
) strict, without rowid;
INSERT INTO "links" VALUES(0,'http://elsewhere.test/',NULL,0,'x',2.07750265527135816222e+04,NULL);
INSERT INTO "links" VALUES(0,'http://one.test/a',2,1,'a',2.07750265527135816222e+04,2.07750265880955521419e+04);
INSERT INTO "links" VALUES(0,'http://one.test/b',3,1,'b',2.07750265527135816222e+04,NULL);
INSERT INTO "links" VALUES(0,'http://one.test/c',4,1,'c',2.07750265527135816222e+04,NULL);
INSERT INTO "links" VALUES(0,'http://one.test/d',8,1,'d',2.07750265652714515463e+04,NULL);
INSERT INTO "links" VALUES(1,'http://elsewhere.test/',NULL,0,'x',2.07750265587324502115e+04,NULL);
INSERT INTO "links" VALUES(1,'http://two.test/a',5,1,'a',2.07750265587324502115e+04,2.07750265878607606284e+04);
INSERT INTO "links" VALUES(1,'http://two.test/b',6,1,'b',2.07750265587324502115e+04,NULL);
INSERT INTO "links" VALUES(1,'http://two.test/c',7,1,'c',2.07750265587324502115e+04,NULL);
INSERT INTO "links" VALUES(1,'http://two.test/d',9,1,'d',2.07750265653227143055e+04,NULL);
CREATE TABLE meta (
    key text primary key,
    value text not null
) strict;
INSERT INTO "meta" VALUES('scope','Scope(hosts=(''one.test'', ''two.test''), prefixes=(), patterns=(), excludes=(), deny=(), year=None)');
CREATE TABLE pages (
    page integer primary key,              -- dense, from 0: the row of every column in memory
    url text not null,
    url_hash integer not null unique,      -- 64 bits of BLAKE2b, as a signed number
    host integer not null,
    first_seen_at real not null,
    found_on integer,                      -- the page whose visit showed it; null for a seed
    validators text not null default '{}', -- ETag and Last-Modified with how far they are believed, as JSON
    title text,
    digest blob,                           -- of the copy we hold; null until the first visit
    links_digest blob,                     -- of its links as last seen: the same digest, the same links
    misses integer not null default 0      -- answers "not found" in a row
) strict;
INSERT INTO "pages" VALUES(0,'http://one.test/',-5894106554692114896,1,2.07750265388720508773e+04,NULL,'{}','Home of one.test',X'6E608393660391D20D137496195C6E5E',X'3B3EF5503870D65E9D7A5923358981A7',0);
INSERT INTO "pages" VALUES(1,'http://two.test/',3803874387375425334,2,2.07750265388720508773e+04,NULL,'{}','Home of two.test',X'6E608393660391D20D137496195C6E5E',X'1B9B06630FA8401584CAAB15EA6E602D',0);
INSERT INTO "pages" VALUES(2,'http://one.test/a',-9147332464430304579,1,2.07750265527135816222e+04,0,'{}','/a',X'E091852F0F1AB324165A2A206F733A0D',X'CAE66941D9EFBD404E4D88758EA67670',0);
INSERT INTO "pages" VALUES(3,'http://one.test/b',-6447667875311510392,1,2.07750265527135816222e+04,0,'{}','/b',X'7ACC4BA99134C76F14E4362E4EC3E7D2',X'CAE66941D9EFBD404E4D88758EA67670',3);
INSERT INTO "pages" VALUES(4,'http://one.test/c',-1742872300373016805,1,2.07750265527135816222e+04,0,'{}','/c',X'EC728446AC6F65808081B7B1E76BAC6C',X'CAE66941D9EFBD404E4D88758EA67670',0);
INSERT INTO "pages" VALUES(5,'http://two.test/a',-2119798182901282371,2,2.07750265587324502115e+04,1,'{}','/a',X'E091852F0F1AB324165A2A206F733A0D',X'CAE66941D9EFBD404E4D88758EA67670',0);
INSERT INTO "pages" VALUES(6,'http://two.test/b',-6583750733309580697,2,2.07750265587324502115e+04,1,'{}','/b',X'7ACC4BA99134C76F14E4362E4EC3E7D2',X'CAE66941D9EFBD404E4D88758EA67670',3);
INSERT INTO "pages" VALUES(7,'http://two.test/c',2618648854071727842,2,2.07750265587324502115e+04,1,'{}','/c',X'EC728446AC6F65808081B7B1E76BAC6C',X'CAE66941D9EFBD404E4D88758EA67670',0);
INSERT INTO "pages" VALUES(8,'http://one.test/d',-5756709782848529885,1,2.07750265652714515463e+04,0,'{}','/d',X'228CCBE99CCC71BBDC547FFF84079A33',X'CAE66941D9EFBD404E4D88758EA67670',0);
INSERT INTO "pages" VALUES(9,'http://two.test/d',-1161693797125358555,2,2.07750265653227143055e+04,1,'{}','/d',X'228CCBE99CCC71BBDC547FFF84079A33',X'CAE66941D9EFBD404E4D88758EA67670',0);
CREATE TABLE plan (                        -- what the policy chose: leased until its visit is recorded
    cycle integer not null,
    page integer not null,                 -- key columns first: quick_check of SQLite 3.40 misreads others
    round integer not null,
    rank integer not null,
    primary key (cycle, page)
) strict, without rowid;
CREATE TABLE robots (
    origin text primary key,
    record text not null                   -- robots.txt as last fetched, as JSON
) strict, without rowid;
INSERT INTO "robots" VALUES('http://one.test','{"origin": "http://one.test", "state": "none", "asked_at": 20775.02655257468, "rules_at": 0.0, "text": ""}');
INSERT INTO "robots" VALUES('http://two.test','{"origin": "http://two.test", "state": "none", "asked_at": 20775.02655851067, "rules_at": 0.0, "text": ""}');
CREATE TABLE templates (                   -- pages discovered by the shape of their URL: bounds traps
    template text primary key,
    pages integer not null
) strict, without rowid;
CREATE TABLE versions (
    visit integer primary key,
    page integer not null,
    digest blob not null,
    words integer not null,                -- -1 where nobody told
    warc text,                             -- null where no body may be kept
    offset integer,
    length integer
) strict;
INSERT INTO "versions" VALUES(1,0,X'0771D3A40A2B142A4E71E4F357EA7F32',8,'crawl-00001.warc.gz',0,453);
INSERT INTO "versions" VALUES(2,1,X'0771D3A40A2B142A4E71E4F357EA7F32',8,'crawl-00001.warc.gz',453,457);
INSERT INTO "versions" VALUES(3,2,X'03CD77D45ABB6B7727AFBBDBD3489075',9,'crawl-00001.warc.gz',910,417);
INSERT INTO "versions" VALUES(4,5,X'03CD77D45ABB6B7727AFBBDBD3489075',9,'crawl-00001.warc.gz',1327,418);
INSERT INTO "versions" VALUES(5,3,X'7ACC4BA99134C76F14E4362E4EC3E7D2',9,'crawl-00001.warc.gz',1745,418);
INSERT INTO "versions" VALUES(6,6,X'7ACC4BA99134C76F14E4362E4EC3E7D2',9,'crawl-00001.warc.gz',2163,419);
INSERT INTO "versions" VALUES(7,0,X'AB1F45DF9B61DE936C30B949033C7D9F',8,'crawl-00001.warc.gz',2582,453);
INSERT INTO "versions" VALUES(8,1,X'AB1F45DF9B61DE936C30B949033C7D9F',8,'crawl-00001.warc.gz',3035,453);
INSERT INTO "versions" VALUES(11,9,X'228CCBE99CCC71BBDC547FFF84079A33',9,'crawl-00001.warc.gz',3488,416);
INSERT INTO "versions" VALUES(12,8,X'228CCBE99CCC71BBDC547FFF84079A33',9,'crawl-00001.warc.gz',3904,417);
INSERT INTO "versions" VALUES(13,7,X'EC728446AC6F65808081B7B1E76BAC6C',9,'crawl-00001.warc.gz',4321,417);
INSERT INTO "versions" VALUES(14,4,X'EC728446AC6F65808081B7B1E76BAC6C',9,'crawl-00001.warc.gz',4738,417);
INSERT INTO "versions" VALUES(15,5,X'E091852F0F1AB324165A2A206F733A0D',10,'crawl-00001.warc.gz',5155,422);
INSERT INTO "versions" VALUES(16,2,X'E091852F0F1AB324165A2A206F733A0D',10,'crawl-00001.warc.gz',5577,423);
INSERT INTO "versions" VALUES(17,1,X'E73A174F8EFBEC1D81A53D69CA5A1D72',9,'crawl-00001.warc.gz',6000,460);
INSERT INTO "versions" VALUES(20,0,X'E73A174F8EFBEC1D81A53D69CA5A1D72',9,'crawl-00001.warc.gz',6460,458);
INSERT INTO "versions" VALUES(26,1,X'B5DFEDA1DBC37E4C93E585F1EE0617DC',8,'crawl-00001.warc.gz',6918,457);
INSERT INTO "versions" VALUES(29,0,X'B5DFEDA1DBC37E4C93E585F1EE0617DC',8,'crawl-00001.warc.gz',7375,454);
INSERT INTO "versions" VALUES(35,1,X'6E608393660391D20D137496195C6E5E',8,'crawl-00001.warc.gz',7829,457);
INSERT INTO "versions" VALUES(40,0,X'6E608393660391D20D137496195C6E5E',8,'crawl-00001.warc.gz',8286,456);
CREATE TABLE visits (
    visit integer primary key,
    page integer not null,
    cycle integer not null,
    at real not null,
    outcome integer not null,
    status integer not null,
    body_bytes integer not null,
    elapsed_s real not null,
    new_internal integer not null,
    new_external integer not null,
    change_size real not null,
    note text,
    unique (page, cycle)                   -- a page is visited at most once a cycle
) strict;
INSERT INTO "visits" VALUES(1,0,1,2.07750265527135816222e+04,2,200,159,1.45066400000359863042e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(2,1,1,2.07750265587324502115e+04,2,200,159,4.2717810000567624229e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(3,2,2,2.07750265643926795735e+04,2,200,72,6.86567000002469285391e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(4,5,2,2.07750265643847160392e+04,2,200,72,5.32588949999990290962e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(5,3,2,2.07750265649937027783e+04,2,200,69,2.32619440000689792213e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(6,6,2,2.07750265650074143189e+04,2,200,69,2.65059939999900961993e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(7,0,2,2.07750265652714515463e+04,1,200,158,5.19178299998657166725e-03,1,0,4.0,NULL);
INSERT INTO "visits" VALUES(8,1,2,2.07750265653227143055e+04,1,200,158,2.81908399995245417812e-03,1,0,4.0,NULL);
INSERT INTO "visits" VALUES(9,4,2,2.07750265662809251816e+04,4,500,0,1.58811960000093677081e-02,0,0,0.0,'server-error: ');
INSERT INTO "visits" VALUES(10,7,2,2.07750265664150720115e+04,4,500,0,4.80946300001505733234e-03,0,0,0.0,'server-error: ');
INSERT INTO "visits" VALUES(11,9,3,2.07750265761380433111e+04,2,200,69,1.60196429999359679641e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(12,8,3,2.07750265760033835256e+04,2,200,69,2.86685089999991760123e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(13,7,3,2.07750265763308707383e+04,2,200,69,0.0195234079999409,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(14,4,3,2.07750265764618125105e+04,2,200,69,1.22204369999963091686e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(15,5,3,2.07750265765659569293e+04,1,200,78,1.9417330999999649066e-02,0,0,3.0,NULL);
INSERT INTO "visits" VALUES(16,2,3,2.07750265766928714585e+04,1,200,78,1.04357239999899320537e-02,0,0,3.0,NULL);
INSERT INTO "visits" VALUES(17,1,3,2.07750265768092504006e+04,1,200,178,1.52687329999707799288e-02,1,0,3.0,NULL);
INSERT INTO "visits" VALUES(18,3,3,2.07750265768228746304e+04,4,404,0,1.59392629999501878046e-02,0,0,0.0,'not found, 1 of 3 times');
INSERT INTO "visits" VALUES(19,6,3,2.07750265770008409158e+04,4,404,0,1.9960170000103971688e-03,0,0,0.0,'not found, 1 of 3 times');
INSERT INTO "visits" VALUES(20,0,3,2.07750265770097066711e+04,1,200,178,1.35694399989461089717e-03,1,0,3.0,NULL);
INSERT INTO "visits" VALUES(21,3,4,2.07750265875781115029e+04,4,404,0,1.20289110000157961621e-02,0,0,0.0,'not found, 2 of 3 times');
INSERT INTO "visits" VALUES(22,6,4,2.07750265875839613721e+04,4,404,0,1.21199069999420316889e-02,0,0,0.0,'not found, 2 of 3 times');
INSERT INTO "visits" VALUES(23,2,4,2.07750265877209822074e+04,0,200,78,3.52708099990195478312e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(24,5,4,2.07750265877255187651e+04,0,200,78,1.12100399999235378345e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(25,8,4,2.07750265877660021934e+04,0,200,69,8.47105399998326902277e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(26,1,4,2.07750265878607606284e+04,1,200,159,3.47847800003364682197e-03,0,0,3.0,NULL);
INSERT INTO "visits" VALUES(27,4,4,2.07750265878663522016e+04,0,200,69,1.92817889999332692241e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(28,9,4,2.07750265879098478753e+04,0,200,69,1.63169569999581653974e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(29,0,4,2.07750265880955521419e+04,1,200,159,3.20643299994571862043e-03,0,0,3.0,NULL);
INSERT INTO "visits" VALUES(30,7,4,2.07750265881010163864e+04,0,200,69,1.21658949999527976615e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(31,6,5,2.07750265992508429909e+04,3,404,0,2.98798700009683670941e-03,0,0,0.0,'gone: ');
INSERT INTO "visits" VALUES(32,3,5,2.07750265992451386412e+04,3,404,0,3.9982729999792354647e-03,0,0,0.0,'gone: ');
INSERT INTO "visits" VALUES(33,2,5,2.07750265992927925251e+04,0,200,78,7.41058300002350733848e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(34,5,5,2.07750265992873646599e+04,0,200,78,8.6894199999960619607e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(35,1,5,2.07750265994529545432e+04,1,200,161,1.80173700005070713814e-03,0,0,2.0,NULL);
INSERT INTO "visits" VALUES(36,8,5,2.07750265993839129804e+04,0,200,69,9.36583899999732238939e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(37,9,5,2.0775026599487111526e+04,0,200,69,1.89239200005886232247e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(38,4,5,2.07750265994951914755e+04,0,200,69,1.85172099997998884646e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(39,7,5,2.07750265995118315914e+04,0,200,69,1.37118500003907684003e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(40,0,5,2.07750265995190129607e+04,1,200,161,2.24845299999287817627e-03,0,0,2.0,NULL);
CREATE INDEX visits_cycle on visits (cycle);
CREATE INDEX versions_page on versions (page);
CREATE INDEX feeds_host on feeds (host);
CREATE INDEX announced_pending on announced (pending) where pending;
COMMIT;
