PRAGMA application_id = 1919119991;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE announced (                   -- what sites say of their pages
    page integer primary key,
    said_at real not null,                 -- when it changed, as the site says
    pending integer not null               -- 1: not visited since
) strict;
CREATE TABLE cycles (
    cycle integer primary key,
    at real not null,                      -- when its visits are due: the end of the cycle
    budget integer not null,
    policy text not null,
    heard integer,                         -- visits to sitemaps and feeds, part of the budget; null: not asked yet
    done integer not null default 0
) strict;
INSERT INTO "cycles" VALUES(1,20775.0261170916,2,'age',0,1);
INSERT INTO "cycles" VALUES(2,2.07750264347120573802e+04,8,'age',0,1);
INSERT INTO "cycles" VALUES(3,2.07750264463727689866e+04,10,'age',0,1);
INSERT INTO "cycles" VALUES(4,2.07750264579716604194e+04,10,'age',0,1);
INSERT INTO "cycles" VALUES(5,2.07750264695669065975e+04,10,'age',0,1);
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
INSERT INTO "first_links" VALUES(2,2.07750264351709665799e+04,0,'');
INSERT INTO "first_links" VALUES(3,2.07750264352632511865e+04,0,'');
INSERT INTO "first_links" VALUES(4,2.07750264469394569461e+04,0,'');
INSERT INTO "first_links" VALUES(5,2.07750264352146623431e+04,0,'');
INSERT INTO "first_links" VALUES(6,2.07750264353102538725e+04,0,'');
INSERT INTO "first_links" VALUES(7,2.07750264471163500275e+04,0,'');
INSERT INTO "first_links" VALUES(8,2.07750264468478635531e+04,0,'');
INSERT INTO "first_links" VALUES(9,2.07750264468402128848e+04,0,'');
CREATE TABLE hosts (
    host integer primary key,
    name text not null unique,
    gate text,                             -- politeness state as JSON, so that a restart keeps the delay
    signals_true integer not null default 0,   -- visits to pages that the host said had changed, and had
    signals_false integer not null default 0   -- ... and had not
) strict;
INSERT INTO "hosts" VALUES(1,'one.test','{"host": "one.test", "saved_at": 20775.026470864865, "wait_s": 0.0, "delay_s": 0.0, "latency_s": 0.020063678288116445, "crawl_delay_s": 0.0, "failures": 0, "backoffs": 0}',0,0);
INSERT INTO "hosts" VALUES(2,'two.test','{"host": "two.test", "saved_at": 20775.026470864865, "wait_s": 0.0, "delay_s": 0.0, "latency_s": 0.013121050879754046, "crawl_delay_s": 0.0, "failures": 0, "backoffs": 0}',0,0);
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
INSERT INTO "links" VALUES(0,'http://elsewhere.test/',NULL,0,'x',2.07750261174937841143e+04,NULL);
INSERT INTO "links" VALUES(0,'http://one.test/a',5,1,'a',2.07750261174937841143e+04,2.0775026459069122211e+04);
INSERT INTO "links" VALUES(0,'http://one.test/b',6,1,'b',2.07750261174937841143e+04,NULL);
INSERT INTO "links" VALUES(0,'http://one.test/c',7,1,'c',2.07750261174937841143e+04,NULL);
INSERT INTO "links" VALUES(0,'http://one.test/d',9,1,'d',2.07750264355089129825e+04,NULL);
INSERT INTO "links" VALUES(1,'http://elsewhere.test/',NULL,0,'x',2.07750261174886290973e+04,NULL);
INSERT INTO "links" VALUES(1,'http://two.test/a',2,1,'a',2.07750261174886290973e+04,2.07750264587389137896e+04);
INSERT INTO "links" VALUES(1,'http://two.test/b',3,1,'b',2.07750261174886290973e+04,NULL);
INSERT INTO "links" VALUES(1,'http://two.test/c',4,1,'c',2.07750261174886290973e+04,NULL);
INSERT INTO "links" VALUES(1,'http://two.test/d',8,1,'d',2.07750264354982755324e+04,NULL);
CREATE TABLE meta (
    key text primary key,
    value text not null
) strict;
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
INSERT INTO "pages" VALUES(0,'http://one.test/',-5894106554692114896,1,2.07750261015023097565e+04,NULL,'{}','Home of one.test',X'6E608393660391D20D137496195C6E5E',X'3B3EF5503870D65E9D7A5923358981A7',0);
INSERT INTO "pages" VALUES(1,'http://two.test/',3803874387375425334,2,2.07750261015023097565e+04,NULL,'{}','Home of two.test',X'6E608393660391D20D137496195C6E5E',X'1B9B06630FA8401584CAAB15EA6E602D',0);
INSERT INTO "pages" VALUES(2,'http://two.test/a',-2119798182901282371,2,2.07750261174886290973e+04,1,'{}','/a',X'E091852F0F1AB324165A2A206F733A0D',X'CAE66941D9EFBD404E4D88758EA67670',0);
INSERT INTO "pages" VALUES(3,'http://two.test/b',-6583750733309580697,2,2.07750261174886290973e+04,1,'{}','/b',X'7ACC4BA99134C76F14E4362E4EC3E7D2',X'CAE66941D9EFBD404E4D88758EA67670',3);
INSERT INTO "pages" VALUES(4,'http://two.test/c',2618648854071727842,2,2.07750261174886290973e+04,1,'{}','/c',X'EC728446AC6F65808081B7B1E76BAC6C',X'CAE66941D9EFBD404E4D88758EA67670',0);
INSERT INTO "pages" VALUES(5,'http://one.test/a',-9147332464430304579,1,2.07750261174937841143e+04,0,'{}','/a',X'E091852F0F1AB324165A2A206F733A0D',X'CAE66941D9EFBD404E4D88758EA67670',0);
INSERT INTO "pages" VALUES(6,'http://one.test/b',-6447667875311510392,1,2.07750261174937841143e+04,0,'{}','/b',X'7ACC4BA99134C76F14E4362E4EC3E7D2',X'CAE66941D9EFBD404E4D88758EA67670',3);
INSERT INTO "pages" VALUES(7,'http://one.test/c',-1742872300373016805,1,2.07750261174937841143e+04,0,'{}','/c',X'EC728446AC6F65808081B7B1E76BAC6C',X'CAE66941D9EFBD404E4D88758EA67670',0);
INSERT INTO "pages" VALUES(8,'http://two.test/d',-1161693797125358555,2,2.07750264354982755324e+04,1,'{}','/d',X'228CCBE99CCC71BBDC547FFF84079A33',X'CAE66941D9EFBD404E4D88758EA67670',0);
INSERT INTO "pages" VALUES(9,'http://one.test/d',-5756709782848529885,1,2.07750264355089129825e+04,0,'{}','/d',X'228CCBE99CCC71BBDC547FFF84079A33',X'CAE66941D9EFBD404E4D88758EA67670',0);
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
INSERT INTO "robots" VALUES('http://one.test','{"origin": "http://one.test", "state": "none", "asked_at": 20775.02611748715, "rules_at": 0.0, "text": ""}');
INSERT INTO "robots" VALUES('http://two.test','{"origin": "http://two.test", "state": "none", "asked_at": 20775.026117486093, "rules_at": 0.0, "text": ""}');
CREATE TABLE templates (                   -- pages discovered by the shape of their URL: bounds traps
    template text primary key,
    pages integer not null
) strict, without rowid;
CREATE TABLE versions (
    visit integer primary key,
    page integer not null,
    digest blob not null,
    words integer not null,
    warc text,                             -- null where no body may be kept
    offset integer,
    length integer
) strict;
INSERT INTO "versions" VALUES(1,1,X'0771D3A40A2B142A4E71E4F357EA7F32',8,'crawl-00001.warc.gz',0,460);
INSERT INTO "versions" VALUES(2,0,X'0771D3A40A2B142A4E71E4F357EA7F32',8,'crawl-00001.warc.gz',460,459);
INSERT INTO "versions" VALUES(3,2,X'03CD77D45ABB6B7727AFBBDBD3489075',9,'crawl-00001.warc.gz',919,418);
INSERT INTO "versions" VALUES(4,5,X'03CD77D45ABB6B7727AFBBDBD3489075',9,'crawl-00001.warc.gz',1337,419);
INSERT INTO "versions" VALUES(5,3,X'7ACC4BA99134C76F14E4362E4EC3E7D2',9,'crawl-00001.warc.gz',1756,419);
INSERT INTO "versions" VALUES(6,6,X'7ACC4BA99134C76F14E4362E4EC3E7D2',9,'crawl-00001.warc.gz',2175,418);
INSERT INTO "versions" VALUES(9,1,X'AB1F45DF9B61DE936C30B949033C7D9F',8,'crawl-00001.warc.gz',2593,454);
INSERT INTO "versions" VALUES(10,0,X'AB1F45DF9B61DE936C30B949033C7D9F',8,'crawl-00001.warc.gz',3047,452);
INSERT INTO "versions" VALUES(11,8,X'228CCBE99CCC71BBDC547FFF84079A33',9,'crawl-00001.warc.gz',3499,416);
INSERT INTO "versions" VALUES(12,9,X'228CCBE99CCC71BBDC547FFF84079A33',9,'crawl-00001.warc.gz',3915,417);
INSERT INTO "versions" VALUES(13,4,X'EC728446AC6F65808081B7B1E76BAC6C',9,'crawl-00001.warc.gz',4332,416);
INSERT INTO "versions" VALUES(14,7,X'EC728446AC6F65808081B7B1E76BAC6C',9,'crawl-00001.warc.gz',4748,416);
INSERT INTO "versions" VALUES(15,2,X'E091852F0F1AB324165A2A206F733A0D',10,'crawl-00001.warc.gz',5164,423);
INSERT INTO "versions" VALUES(16,5,X'E091852F0F1AB324165A2A206F733A0D',10,'crawl-00001.warc.gz',5587,423);
INSERT INTO "versions" VALUES(17,1,X'E73A174F8EFBEC1D81A53D69CA5A1D72',9,'crawl-00001.warc.gz',6010,460);
INSERT INTO "versions" VALUES(20,0,X'E73A174F8EFBEC1D81A53D69CA5A1D72',9,'crawl-00001.warc.gz',6470,459);
INSERT INTO "versions" VALUES(26,1,X'B5DFEDA1DBC37E4C93E585F1EE0617DC',8,'crawl-00001.warc.gz',6929,456);
INSERT INTO "versions" VALUES(29,0,X'B5DFEDA1DBC37E4C93E585F1EE0617DC',8,'crawl-00001.warc.gz',7385,456);
INSERT INTO "versions" VALUES(36,1,X'6E608393660391D20D137496195C6E5E',8,'crawl-00001.warc.gz',7841,457);
INSERT INTO "versions" VALUES(39,0,X'6E608393660391D20D137496195C6E5E',8,'crawl-00001.warc.gz',8298,456);
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
INSERT INTO "visits" VALUES(1,1,1,2.07750261174886290973e+04,2,200,159,4.20880800004397315206e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(2,0,1,2.07750261174937841143e+04,2,200,159,2.45361020410000492115e+01,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(3,2,2,2.07750264351709665799e+04,2,200,72,7.56353099995976663194e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(4,5,2,2.07750264352146623431e+04,2,200,72,7.79479599998467165278e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(5,3,2,2.07750264352632511865e+04,2,200,69,8.74130699992292647948e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(6,6,2,2.07750264353102538725e+04,2,200,69,7.64579400004095077747e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(7,4,2,2.07750264353683160149e+04,4,500,0,1.10252749999517618562e-02,0,0,0.0,'server-error: ');
INSERT INTO "visits" VALUES(8,7,2,2.07750264354023165646e+04,4,500,0,0.00903485499998169,0,0,0.0,'server-error: ');
INSERT INTO "visits" VALUES(9,1,2,2.07750264354982755324e+04,1,200,158,5.42849600003592058783e-03,1,0,4.0,NULL);
INSERT INTO "visits" VALUES(10,0,2,2.07750264355089129825e+04,1,200,158,5.92114099993068521143e-03,1,0,4.0,NULL);
INSERT INTO "visits" VALUES(11,8,3,2.07750264468478635531e+04,2,200,69,7.4638720000166358659e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(12,9,3,2.07750264468402128848e+04,2,200,69,2.34635059999845907441e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(13,4,3,2.07750264469394569461e+04,2,200,69,1.67586850000134290894e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(14,7,3,2.07750264471163500275e+04,2,200,69,2.6109039999937522225e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(15,2,3,2.0775026447137450304e+04,1,200,78,1.76746610000009241048e-02,0,0,3.0,NULL);
INSERT INTO "visits" VALUES(16,5,3,2.07750264471495356692e+04,1,200,78,1.7836342000009608455e-02,0,0,3.0,NULL);
INSERT INTO "visits" VALUES(17,1,3,2.07750264473519237061e+04,1,200,178,2.3390405999975882878e-02,1,0,3.0,NULL);
INSERT INTO "visits" VALUES(18,6,3,2.0775026447486659891e+04,4,404,0,1.39193200000136130256e-02,0,0,0.0,'not found, 1 of 3 times');
INSERT INTO "visits" VALUES(19,3,3,2.07750264476425727474e+04,4,404,0,1.80096110000249609583e-02,0,0,0.0,'not found, 1 of 3 times');
INSERT INTO "visits" VALUES(20,0,3,2.07750264476487427598e+04,1,200,178,1.76213519999919299152e-02,1,0,3.0,NULL);
INSERT INTO "visits" VALUES(21,3,4,2.07750264584277101681e+04,4,404,0,5.3955769999447511509e-03,0,0,0.0,'not found, 2 of 3 times');
INSERT INTO "visits" VALUES(22,6,4,2.07750264584172145989e+04,4,404,0,7.07359000000451487721e-03,0,0,0.0,'not found, 2 of 3 times');
INSERT INTO "visits" VALUES(23,2,4,2.07750264584927062973e+04,0,200,78,2.07128129999318844056e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(24,5,4,2.07750264585010736492e+04,0,200,78,2.12015810000139026669e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(25,9,4,2.07750264587518577172e+04,0,200,69,9.18223500002568471245e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(26,1,4,2.07750264587389137896e+04,1,200,159,2.46209519999638359877e-02,0,0,3.0,NULL);
INSERT INTO "visits" VALUES(27,7,4,2.07750264588642166935e+04,0,200,69,1.72282660000746545847e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(28,8,4,2.07750264590393599072e+04,0,200,69,3.36497900002541427966e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(29,0,4,2.0775026459069122211e+04,1,200,159,2.4033339999505187734e-03,0,0,3.0,NULL);
INSERT INTO "visits" VALUES(30,4,4,2.07750264590823608161e+04,0,200,69,6.00986400002057052915e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(31,6,5,2.07750264699857616502e+04,3,404,0,6.99966900003801129059e-03,0,0,0.0,'gone: ');
INSERT INTO "visits" VALUES(32,3,5,2.07750264699919425762e+04,3,404,0,1.1426873000004889036e-02,0,0,0.0,'gone: ');
INSERT INTO "visits" VALUES(33,5,5,2.07750264700692423508e+04,0,200,78,8.79712099992957519134e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(34,2,5,2.07750264701258965938e+04,0,200,78,1.17599999999811188899e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(35,9,5,2.07750264702159329315e+04,0,200,69,8.61890500004847126547e-03,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(36,1,5,2.07750264702660788324e+04,1,200,161,8.558084000014787307e-03,0,0,2.0,NULL);
INSERT INTO "visits" VALUES(37,7,5,2.07750264703207358253e+04,0,200,69,1.92346480000651354203e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(38,8,5,2.07750264703765169537e+04,0,200,69,1.79979040000262102694e-02,0,0,0.0,NULL);
INSERT INTO "visits" VALUES(39,0,5,2.07750264705506051542e+04,1,200,161,1.08392870000670882291e-02,0,0,2.0,NULL);
INSERT INTO "visits" VALUES(40,4,5,2.0775026470589931704e+04,0,200,69,1.40895839999757299665e-02,0,0,0.0,NULL);
CREATE INDEX visits_cycle on visits (cycle);
CREATE INDEX versions_page on versions (page);
CREATE INDEX feeds_host on feeds (host);
CREATE INDEX announced_pending on announced (pending) where pending;
COMMIT;
