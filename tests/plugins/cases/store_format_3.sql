-- A store as format 3 wrote it.
BEGIN TRANSACTION;
CREATE TABLE budget (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        cap INTEGER NOT NULL,
        spent INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0),
        reserved INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
        uncertain INTEGER NOT NULL DEFAULT 0 CHECK (uncertain >= 0)
    );
INSERT INTO "budget" VALUES(1,'job',1000,20,0,10);
CREATE TABLE call (
        id INTEGER PRIMARY KEY,
        question INTEGER NOT NULL REFERENCES question,
        owner INTEGER NOT NULL REFERENCES owner,
        budget INTEGER NOT NULL REFERENCES budget,
        run TEXT NOT NULL,
        thread TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('sent', 'settled', 'uncertain', 'released')),
        worst INTEGER NOT NULL CHECK (worst >= 0),
        price INTEGER NOT NULL DEFAULT 0 CHECK (price >= 0)
    , sent_at REAL);
INSERT INTO "call" VALUES(1,1,1,1,'run-0','run-0/t001','settled',10,4,1.79602059140900635722e+09);
INSERT INTO "call" VALUES(2,2,2,1,'run-1','run-1/t001','settled',10,4,1.79602059151806759838e+09);
INSERT INTO "call" VALUES(3,2,2,1,'run-1','run-1/t001','settled',10,4,1.79602059152665257451e+09);
INSERT INTO "call" VALUES(4,3,2,1,'run-1','run-1/t002','settled',10,4,1.79602059154940080646e+09);
INSERT INTO "call" VALUES(5,4,2,1,'lead','lead','settled',10,4,1.79602059156027102468e+09);
INSERT INTO "call" VALUES(6,5,2,1,'run-1','run-1/t004','uncertain',10,0,1.79602059157231783862e+09);
INSERT INTO "call" VALUES(7,6,2,1,'run-2','run-2/t001','released',10,0,1.79602059158444809909e+09);
CREATE TABLE driver (
        run TEXT PRIMARY KEY, owner INTEGER NOT NULL REFERENCES owner, since REAL NOT NULL
    ) WITHOUT ROWID;
CREATE TABLE event (
        run TEXT NOT NULL,
        seq INTEGER NOT NULL,
        t REAL NOT NULL,
        type TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (run, seq)
    ) WITHOUT ROWID;
INSERT INTO "event" VALUES('run-1',1,0.0,'run.created','{"title":"A run"}');
INSERT INTO "event" VALUES('run-1',2,0.25,'run.agent_started','{"thread":"run-1/t001","label":"worker","phase":"scan"}');
INSERT INTO "event" VALUES('run-1',3,0.5,'run.log','{"message":"\"run-1/ and \n run-1/t001 \u00e9"}');
INSERT INTO "event" VALUES('run-1',4,0.5,'run.log','{"message":"run-1/"}');
INSERT INTO "event" VALUES('run-1',5,1.125,'run.agent_ended','{"thread":"run-1/t001","ok":true,"deep":{"run-1/t001":["run-1/x",null,1.5]}}');
INSERT INTO "event" VALUES('run-1',6,2.0,'run.dropped','{"label":"worker","limit":1}');
INSERT INTO "event" VALUES('run-1',7,2.5,'run.resumed','{"reused":1,"asked":0}');
INSERT INTO "event" VALUES('run-1',8,3.0,'run.ended','{}');
INSERT INTO "event" VALUES('run-2',1,0.0,'run.created','{"title":"A run"}');
CREATE TABLE journal (
        run TEXT NOT NULL,
        place TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (run, place)
    ) WITHOUT ROWID;
INSERT INTO "journal" VALUES('run-1','1.0','98.5');
INSERT INTO "journal" VALUES('run-1','2.0','["a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list","a long list"]');
INSERT INTO "journal" VALUES('run-2','1.0','null');
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('freed',7);
INSERT INTO "meta" VALUES('pruned',1);
CREATE TABLE owner (
        id INTEGER PRIMARY KEY AUTOINCREMENT, lease_until REAL, machine TEXT NOT NULL, pid INTEGER NOT NULL
    );
INSERT INTO "owner" VALUES(1,NULL,'elsewhere',1);
INSERT INTO "owner" VALUES(2,NULL,'elsewhere',1);
CREATE TABLE part (hash BLOB PRIMARY KEY, body BLOB NOT NULL, codec INTEGER NOT NULL);
INSERT INTO "part" VALUES(X'6F58DD2450B61407B6BD53977F12E17BEE904982A4AF313D044C72287E946590',X'78014B494D53C8492C4A4F2D2ED1284BCC294D2DD6B4E2520082A2D492D2A23C85DCC40A983857CAA85A50F88C8603249D8C86C368388C960FA3E5E4687D315A6F8EB61F46DB46A36DA3D1B6F2689F61B4EF34DA871CED4B0FDB310500F3D3CC48',1);
CREATE TABLE question (
        id INTEGER PRIMARY KEY,
        fingerprint BLOB NOT NULL UNIQUE,
        body BLOB NOT NULL,
        codec INTEGER NOT NULL
    );
INSERT INTO "question" VALUES(1,X'73E2805EEC066C8FB336CF83EAC93CE71AA0B7F7DC1C19F9E6A1C83CC27C6365',X'',255);
INSERT INTO "question" VALUES(2,X'C712DC56C24AA0E53D17BDAA193186EAE368F2FD77E8AF6A46B4E577595315D9',X'7801B592BB6EDC301045FB7C05C15A30F87EA8F10FA44A93C26B1843729895238982C88DB158ECBF874A1138B59D8200415CDE993B676E14D7B495696D74A4738930D381FEC4EBCB2FDCEB54563AF2812E582BFCC04AC7A71BDD606FC78DFA24AC0AC12A9F39E4648C80102506441562E44201E75665666DF0320815BC665E68A93568EC02FA3CD0BDCCD80BD76B6DB8D0FBF0CEDE64ED52124AB360B862369890B4F4D6662E90DB5EC633E59D00055972999852D10AE12C7A65B4673D878D4906054981314A49A7ADCBD025412B638C8E26649F32D35D80D1318C3A04950C46852A03866E61BCE2168D71328A9C84B0227004951CB3CA810D3AA3ED1F950AC004CB9C191F73D62A6BAEA393EF435E2AEEFF46743AA1C9D1D920BB05580F41331535C8DE6D4634BD4D91927388D93BA62DCF8E79342051676EC2BB0942AD536DD031DEFB589792703EE6BAC07C00EDCC60C1D691D2F14677AC5B592BBEE4B22FD0C1DF68BB6E0787D75AD697125E31769F81D656B683F469ED1E47B10E69C31DDA65EF6AF6600E0D2CDBC1F0890FF2F9FEE5F6F1B518E9378444E25C2ACED787CFE038D2EF676864AAA4C29448C9A49DB19F694F649E561C08AC7F9FCB8A04721F1699DA40DECEB8FE51E769AF8DB4B742604732636EA45CDA23F97FCE9FB17E23FDDAF311FED8CD3EBC6E233D5D184B718D33C23E9213BDDD4FC776DC7F03EFCD4A87',1);
INSERT INTO "question" VALUES(3,X'27F589D2108DB50DC9E877F02EAC82013DBEE6BE388CB4111E3F446E2AAB519C',X'7801B592BD6EDC301084FB3C05C15A30F8FFA3C62F902A4D0A9F612CC9654E8E240A222FC6E170EF1E2A45E0D4760A02043198E1ECB7378A6BDACAB4363AD2B94498E9407FE2F5E517EE752A2B1DF94017AC157E60A5E3D38D6EB0B7E3467D1256856095CF1C72324640881203A20A3172A18073AB32B3367819840A5E332FB4D41A3476017D1EE85E66ECC1F55A1B2EF43EBCB33759BB9484D22C18AE980D26242DBDB5990BE4B6C778A6BC13A0204B2E13532A5A219C45AF8CF6ACF7B031C9A02029304629E9B47519BA2468658CD1D184EC5366BA0B303A865187A092C1A85065C0D02DA2944AE524515AE96CB6124200CB6D724A2B0CC13074603DD7DCF214B5EE1F0566444C3D8C279DDE95BC54DCFFADE8744293A3B341F6CC6E0341331535F44C99114DFFA648C939C4EC1DEB8ED9318F0624EACC4D78670EB54EB541C778EF635D4AC2F998EB02F301B43383055B474AC71BDDB16E65ADF892CBBE40077FA3EDBA1D1C5E6B595F4A78C5D87D065A5BD90ED2A7B57B1C611DD2863BB4CBDED5ECC11C1A58B683E19318E4F3FDCBEDE36B31D26F0889C4B9549CAF0F9FC171A4DFCFD0C8544985299192493B633FD39EC83CAD381058FF3E971509E43E2C32B581BC9D71FDA3CED35E1B696F85C08E64C6DC48B9B447F2FF9C3F63FD46FAB5F723E2B19B7D78DD467ABA3096E21A67847D24277ABB9F8EEDB8FF0614D94A91',1);
INSERT INTO "question" VALUES(4,X'5F74552D01C7616E07CEA2981F05FDAD3E9E666D98B1B15516534209C848CD5D',X'7B22656E64706F696E74223A226C6F63616C222C226B65795F76657273696F6E223A312C226D65737361676573223A5B7B227061727473223A5B2239643237346262373439663161666436363261626333656265653462636331323461313137346630373762393362323462393530393235333535613565636331225D2C22726F6C65223A2273797374656D227D2C7B227061727473223A5B2238393530646438353366333832396534656331396139303063343439626161373362613763353235643334343366316234333261306663646134613961306233225D2C22726F6C65223A2275736572227D5D2C226D6F64656C223A22736D616C6C222C22706172616D6574657273223A7B226D61785F746F6B656E73223A3130302C2274656D7065726174757265223A302E367D2C2273616D706C65223A5B302C315D7D0A7B2239643237346262373439663161666436363261626333656265653462636331323461313137346630373762393362323462393530393235333535613565636331223A225265616420636C6F73656C792E222C2238393530646438353366333832396534656331396139303063343439626161373362613763353235643334343366316234333261306663646134613961306233223A225768617420646F65732033207361793F227D',0);
INSERT INTO "question" VALUES(5,X'132EF58F5748F7A3465DD846E10ADF0CB947B980750262D8A87CE5FEA070FF2E',X'7801B552BB6EDC3010ECF315046BC1A0243E4435FE81546952F88CC392DCCDC9964481E4C53808F7EFA1520497DA494160410C66666776E7B8862D4E6BE1239FA3879937FC1D6FE79F98F214573EB60D5F3067F881998F2F3BDF209563E23674463A67A4A5162868DD81F33D3A44E9BC6F3B096D6B2409639CED5D279D55C276AA570A1456007F6D788A3356E17CCB05177E6F1EE88D0FBD931024682D653F28331074DDE094D45A2BAF1DD940425500FA41A057CEC9A0D14B9404E8EA1ED6BA4E88CE08D7F59AE8985BD29AEC60BD21D32B131C60B53958DD5AA5ACD0811479C23AA1EA1F1C5E33A6BFFD0D2AA0263F18D7574D30169C12D22BE8AB5B42D4D56617C230205641A14C4B83B0A8A14745AD760FE490F3940BD40EEE359325069C8F5016988F366AE0B060A97DF071E709F316D78C678A6981DADACECB6D3B427CCB713D47F786BEF2343C97B81D359DD6CA7188D584374C50AEA9A2C5933E30B06C47012FB2E95FEF5FF6CF773AF26F0881F939669C6F4F55FAD33D8EFCFB050A9B32CB30051689950BD637A5C0E669C586C1FAE73BAEC8806A586C2A0DFBB8E0FA1B4D53CA85958FC820219B910A8BD7F2CCFE1FF3BF38BF917FADFB31F95CC93E7D6E233F5D85087EF533421AD989EFF7D3711DF75F59B13920',1);
INSERT INTO "question" VALUES(6,X'E5621AB19058DD7C80AA1D3E490CA190552D4999BD069F1A50EA20995911A460',X'7801B552BB6EDC3010ECF315046BC1A0F8D2A3F10FA44A93C2671C96E432275B12059217E320DCBF679522B8D44E0A020B6230333BB33BC7356C695A2B1FF99C3CCCBCE1EF783BFFC45CA6B4F2B16DF882A5C00F2C7C7CD9F906B91E131F82ECB4739D1E620B31582BC179850E513BEF5BA9A16D3B1D45D7B94139A9DD60C4208D32060C1280BF363CA71949B8DC4AC585DF9B07FACE07E534040DD66AAD7AD3F511A4EC9DD1D65AE3AD8B4388C210007D2FD01BE774B0E835EA08E8680F920EDE7972A2A3B39ED8A290512A816DEBA30E42D95EEB2EF4BD5008DA0E5AAAB675D20E6D8F42760F0EAF05F3DFFE7A13D046DF774E912674033823B437A0C86D44B4645306E2468C432F4CD7C65E0C6841A189AD750FE450CA542A500777CA644901E7239405E6A30D0A1C16ACD4071F779EB16C692D788E292F40ADEDBCDEB623C4B792D673726FE889A7E1A5A6EDA8E9B412C72146096F98A15E33A1C5933D30B06C47012FA651AFF72FFBE73B1DF93784C0FC9C0ACEB72792FE748F23FF7E81CAA6C20A4C81A5C8EA05E94D39B0795AB161B0FEF94E2B328814169B6AC33E2EB8FE46C72997CAEA47629091CD182B4BD7FACCFE1FF3BF38BF917FA5FD987926B24F9FDBC84F5721825FFD8C904776E2FBFD745CC7FD17B93C3922',1);
CREATE TABLE reply (
        id INTEGER PRIMARY KEY,
        question INTEGER NOT NULL REFERENCES question,
        call INTEGER NOT NULL REFERENCES call,
        hash BLOB NOT NULL,
        codec INTEGER NOT NULL,
        finish_reason TEXT,
        prompt_tokens INTEGER,
        cached_prompt_tokens INTEGER,
        completion_tokens INTEGER,
        reasoning_tokens INTEGER,
        seconds REAL NOT NULL,
        model TEXT NOT NULL,
        price INTEGER NOT NULL,
        estimated INTEGER NOT NULL,
        role TEXT NOT NULL,
        key_version INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        body BLOB NOT NULL
    );
INSERT INTO "reply" VALUES(1,1,1,X'84A910315B56CA0A56691E1265366F44B8A76ED4B3BE9AA4D045A9592DDDB651',255,'stop',10,NULL,3,NULL,0.25,'small-2026',4,0,'worker',1,'2020-01-01T00:00:00+00:00',X'');
INSERT INTO "reply" VALUES(2,2,2,X'A7937B64B8CAA58F03721BB6BACF5C78CB235FEBE0E70B1B84CD99541461A08E',0,'stop',10,NULL,3,NULL,0.25,'small-2026',4,0,'worker',1,'2026-01-02T03:04:05.678901+00:00',X'6669727374');
INSERT INTO "reply" VALUES(3,2,3,X'E17C32CD22EC72F2369FBBA7B12948D7425DEEE6DFD837EC11BC7477B29472A5',1,NULL,10,NULL,3,NULL,0.25,'small-2026',4,0,'worker',1,'2026-01-02T03:04:05.999999+00:00',X'78012B4E4DCECF4BD151C8C9CF4B4F2D52281EE58E86C6686218CD0BA345C1D02F0901FDE51F7B');
INSERT INTO "reply" VALUES(4,3,4,X'5E80E49BDCE25E72DCB9069996F086A521D510FEBB9C6C93ABB00A071DA8C4C5',0,'stop',10,NULL,3,NULL,0.25,'small-2026',4,0,'worker',1,'2026-01-02T03:04:05.678901+00:00',X'68616C662061207061697220EDA0BD');
INSERT INTO "reply" VALUES(5,4,5,X'E9136C9DF92EC18F0787DCBEFAD5F5298116FFB30A5132718B4328A2BED01AB4',0,'stop',10,NULL,3,NULL,0.25,'small-2026',4,0,'worker',1,'2026-01-02T03:04:05.678901+00:00',X'6F757473696465206F662072756E73');
CREATE TABLE request (
        run TEXT NOT NULL,
        number INTEGER NOT NULL,
        what TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (run, number)
    ) WITHOUT ROWID;
INSERT INTO "request" VALUES('run-1',1,'cancel','{"why":"enough"}');
CREATE TABLE run (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        status TEXT NOT NULL,
        plan TEXT NOT NULL,
        plan_hash TEXT NOT NULL,
        budget TEXT NOT NULL,
        created_at TEXT NOT NULL,
        job TEXT NOT NULL,
        facts TEXT NOT NULL,
        result TEXT NOT NULL,
        error TEXT
    , facts_codec INTEGER NOT NULL DEFAULT 0, result_codec INTEGER NOT NULL DEFAULT 0);
INSERT INTO "run" VALUES(1,'run-1','A run','completed','phase("scan")
','00ff','job','2026-01-02T03:04:05+00:00','',X'7B226B697473223A7B226175646974223A22302E31227D2C22617267756D656E7473223A7B226C6576656C223A322C2264656570223A5B312C6E756C6C2C322E355D7D7D',X'78018B56AA1805A321301A02A321301A02A321301A02A321301A02A321301A02833E0494620125B27F88',NULL,0,1);
INSERT INTO "run" VALUES(2,'run-2','A run','running','phase("scan")
','00ff','job','2026-01-02T03:04:05+00:00','',X'7B226B697473223A7B226175646974223A22302E31227D2C22617267756D656E7473223A7B226C6576656C223A322C2264656570223A5B312C6E756C6C2C322E355D7D7D',X'6E756C6C',NULL,0,0);
CREATE TABLE tally (
        run TEXT NOT NULL,
        type TEXT NOT NULL,
        count INTEGER NOT NULL,
        last INTEGER NOT NULL,
        before INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (run, type)
    ) WITHOUT ROWID;
INSERT INTO "tally" VALUES('run-1','run.agent_ended',1,5,1);
INSERT INTO "tally" VALUES('run-1','run.agent_started',1,2,1);
INSERT INTO "tally" VALUES('run-1','run.created',1,1,1);
INSERT INTO "tally" VALUES('run-1','run.dropped',1,6,1);
INSERT INTO "tally" VALUES('run-1','run.ended',1,8,0);
INSERT INTO "tally" VALUES('run-1','run.log',2,4,2);
INSERT INTO "tally" VALUES('run-1','run.resumed',1,7,0);
INSERT INTO "tally" VALUES('run-2','run.created',1,1,0);
CREATE TABLE thread (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        run TEXT NOT NULL,
        place TEXT NOT NULL,
        phase TEXT NOT NULL,
        label TEXT NOT NULL,
        model TEXT NOT NULL,
        role TEXT NOT NULL,
        status TEXT NOT NULL,
        started REAL,
        ended REAL,
        cost INTEGER NOT NULL,
        fingerprints TEXT NOT NULL,
        error TEXT,
        result TEXT NOT NULL,
        raw BLOB,
        raw_codec INTEGER
    , versions TEXT NOT NULL DEFAULT '[]');
INSERT INTO "thread" VALUES(1,'run-1/t001','run-1','2.0.1','scan','run-1/ "quoted"','small','worker','done',1.0,1.5,8,'["c712dc56c24aa0e53d17bdaa193186eae368f2fd77e8af6a46b4e577595315d9","27f589d2108db50dc9e877f02eac82013dbee6be388cb4111e3f446e2aab519c"]',NULL,'{"long":"yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes "}',X'78012B4A2C57281AC5A361309A0646D3C0681A184D03A3696048A70100BD48C327',1,'[3,4]');
INSERT INTO "thread" VALUES(2,'run-1/t002','run-1','2.0.2','scan','worker','small','worker','failed',NULL,NULL,0,'[]','schema: é','null',NULL,NULL,'[]');
INSERT INTO "thread" VALUES(3,'run-2/t001','run-2','2.0.3','scan','worker','small','worker','done',3.0,3.5,0,'["c712dc56c24aa0e53d17bdaa193186eae368f2fd77e8af6a46b4e577595315d9"]',NULL,'null',NULL,NULL,'[2]');
CREATE UNIQUE INDEX call_open ON call (question) WHERE state = 'sent';
CREATE INDEX call_uncertain ON call (budget) WHERE state = 'uncertain';
CREATE INDEX call_run ON call (run);
CREATE INDEX reply_answer ON reply (question, call DESC, id);
CREATE INDEX run_job ON run (job, number);
CREATE INDEX thread_run ON thread (run, status);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('owner',2);
COMMIT;
PRAGMA application_id = 1886154605;
PRAGMA user_version = 3;
